import { child, children, keyName, list, stringValue, type SyntaxNode, type Source } from './syntax.ts'

/**
 * Finds code that may decide about access by itself, which belongs to `policies/`. What decides keeps its name and is only handed on: a role, a
 * visibility, the creator of a board, the author of a comment, the owner of a file, the end of a membership. So another name for it is found
 * where it is given, and no value has to be followed. The id of a person may have other names in calls and records; it is found where it is
 * compared, and a membership where its presence is tested. Types are not known.
 */

export interface Finding {
  readonly path: string
  /** The source text, with each run of white space written as one space. */
  readonly expression: string
}

/** What is only handed on under its own name. `isActive` is the predicate of the model about a membership. */
const HANDED_ON = names('role visibility creator_id creatorId author_id authorId owner_id ownerId ended_at endedAt isActive')
/** Records whose presence decides. */
const PRESENCE = names('membership boardMember')
const PERSON = names('user_id userId')
/** Lists of the model. */
const TABLES = names('roles visibilities')
/** The keys and items of a table of roles. A visibility that a table is asked for is found by its name. */
const TABLE_WORD = /^(owner|admin|member|private|creator)$/
/** Words that mean a role, a visibility, a relation or a scope wherever they are compared. ("workspace" means other things too.) */
const WORD = /^(owner|admin|member|private|creator|kanban:\w+)$/i

const COMPARISONS = new Set(['===', '!==', '==', '!=', '<', '<=', '>', '>=', 'in'])
/** Functions that compare, or look one value up in another. */
const COMPARING = /^(is|(deep)?equals?|isEqual|isDeepStrictEqual|same\w*|includes|(last)?indexOf|has|hasOwn|get|call|apply|test|match)$/i

const WRAPPERS = names('TSAsExpression TSSatisfiesExpression TSNonNullExpression ChainExpression AwaitExpression')

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}

/** @returns the findings of all files, in source order; of findings inside of each other the outermost */
export function findAccessDecisions(sources: readonly Source[]): Finding[] {
  return sources.flatMap(({ path, text, program }) => {
    const found = new Set<SyntaxNode>()
    visit(program, [], found)
    const all = [...found]
    return all
      .filter((one) => !all.some((other) => other !== one && other.start <= one.start && other.end >= one.end))
      .map(({ start, end }) => ({
        path,
        expression: text.slice(start, end).replace(/\s+/g, ' '),
      }))
  })
}

function visit(node: SyntaxNode, above: readonly SyntaxNode[], found: Set<SyntaxNode>): void {
  if (node.type.startsWith('TS') && !WRAPPERS.has(node.type) && node.type !== 'TSParameterProperty') return
  const chain = [...above, node]
  const outer = above.findLastIndex(({ type }) => !WRAPPERS.has(type))
  // What stands in its parent: the node with its casts, `!`, `?.` and `await`.
  const whole = chain[outer + 1]!
  if (outer >= 0) for (const one of decisionsAt(node, whole, above[outer]!, above[outer - 1])) found.add(one)
  for (const below of children(node)) visit(below, chain, found)
}

function* decisionsAt(node: SyntaxNode, whole: SyntaxNode, parent: SyntaxNode, grandparent: SyntaxNode | undefined): Generator<SyntaxNode> {
  const name = nameOf(node)
  const word = WORD.test(stringValue(node) ?? '')
  if (name !== undefined && HANDED_ON.has(name) && !isHandedOn(name, whole, parent, grandparent)) yield shown(whole, parent)
  if (name !== undefined && PRESENCE.has(name) && testsPresence(whole, parent)) yield shown(whole, parent)
  if (name !== undefined && PERSON.has(name) && compares(whole, parent)) yield parent
  if (name !== undefined && TABLES.has(name) && (compares(whole, parent) || COMPARING.test(nameOf(parent) ?? ''))) yield parent
  if (name !== undefined && PERSON.has(name) && renames(name, whole, parent, grandparent)) yield parent
  if (word && (compares(whole, parent) || parent.type === 'SwitchCase')) yield parent
  if (isTable(node)) yield node
  if (node.type === 'VariableDeclarator') yield* renamedRecords(node)
}

/** `['owner', 'admin']`, `{ owner: 1, admin: 2 }`: a list with such a word, or an object with two such keys. */
function isTable(node: SyntaxNode): boolean {
  if (node.type === 'ArrayExpression') return list(node, 'elements').some((item) => TABLE_WORD.test(stringValue(item) ?? ''))
  if (node.type !== 'ObjectExpression') return false
  const keys = list(node, 'properties').map(
    (property) => property.type === 'Property' && keyName(child(property, 'key'), property['computed']),
  )
  return keys.filter((key) => key && TABLE_WORD.test(key)).length > 1
}

function nameOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Identifier') return node['name'] as string
  return node.type === 'MemberExpression' ? keyName(child(node, 'property'), node['computed']) : undefined
}

/** Whether a value goes under its own name to a variable, a member or a parameter, into a storage key or into HTML. */
function isHandedOn(name: string, value: SyntaxNode, parent: SyntaxNode, grandparent: SyntaxNode | undefined): boolean {
  switch (parent.type) {
    case 'MemberExpression':
      // The word after the dot. The member as a whole is looked at by itself.
      return child(parent, 'property') === value && parent['computed'] !== true
    case 'Property':
      return !renames(name, value, parent, grandparent)
    case 'VariableDeclarator':
      return isSameName(nameOf(child(parent, 'id')), name)
    case 'AssignmentExpression':
      return isSameName(nameOf(child(parent, 'left')), name)
    case 'AssignmentPattern':
      return child(parent, 'left') === value
    case 'ImportSpecifier':
      return child(parent, 'local')['name'] === name
    case 'BinaryExpression':
      // Every record has a role and a creator: that a value is absent decides nothing, unless it is the end of a membership.
      return isNullish(parent) && !name.startsWith('ended')
    case 'UnaryExpression':
      return parent['operator'] === 'typeof'
    case 'TemplateLiteral':
      return grandparent?.type === 'TaggedTemplateExpression' && child(grandparent, 'tag')['name'] === 'html'
    case 'CallExpression':
      return child(parent, 'callee') !== value && ['keys', 'indexes'].includes(child(child(parent, 'callee'), 'object')?.['name'] as string)
    case 'FunctionDeclaration':
    case 'FunctionExpression':
      return child(parent, 'body') !== value
    case 'ArrowFunctionExpression':
      return list(parent, 'params').includes(value)
    default:
      return /^(MethodDefinition|PropertyDefinition|TSParameterProperty|ExportSpecifier|RestElement)$/.test(parent.type)
  }
}

/** `{ level: member.role }`, `const { role: level } = member`, `const me = caller.userId`. */
function renames(name: string, value: SyntaxNode, parent: SyntaxNode, grandparent: SyntaxNode | undefined): boolean {
  if (parent.type !== 'Property') return false
  const key = child(parent, 'key')
  if (key !== value)
    return grandparent?.type === 'ObjectExpression' && HANDED_ON.has(name) && !isSameName(keyName(key, parent['computed']), name)
  if (parent['computed'] === true) return true
  const target = child(parent, 'value')
  return (
    grandparent?.type === 'ObjectPattern' && !isSameName(nameOf(target.type === 'AssignmentPattern' ? child(target, 'left') : target), name)
  )
}

/** `owner_id` and `ownerId` are one name. */
function isSameName(a: string | undefined, b: string): boolean {
  return a?.replaceAll('_', '').toLowerCase() === b.replaceAll('_', '').toLowerCase()
}

function testsPresence(value: SyntaxNode, parent: SyntaxNode): boolean {
  if (['IfStatement', 'ConditionalExpression', 'WhileStatement'].includes(parent.type)) return child(parent, 'test') === value
  if (parent.type === 'LogicalExpression') return child(parent, 'left') === value
  return (
    (parent.type === 'UnaryExpression' && parent['operator'] === '!') ||
    (parent.type === 'BinaryExpression' && COMPARISONS.has(parent['operator'] as string))
  )
}

function compares(value: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type === 'BinaryExpression') return COMPARISONS.has(parent['operator'] as string) && !isNullish(parent)
  if (parent.type === 'MemberExpression')
    return child(parent, 'property') === value && parent['computed'] === true && value.type !== 'Literal'
  return parent.type === 'CallExpression' && COMPARING.test(nameOf(child(parent, 'callee')) ?? '')
}

/** A record whose presence decides has its name from the beginning: `const entry = await tx.get(keys.boardMember(…))` has not. */
function* renamedRecords(declarator: SyntaxNode): Generator<SyntaxNode> {
  let call = child(declarator, 'init')
  while (call !== null && WRAPPERS.has(call.type)) call = child(call, call.type === 'AwaitExpression' ? 'argument' : 'expression')
  const [read] = call?.type === 'CallExpression' ? list(call, 'arguments') : []
  const id = child(declarator, 'id')
  const pairs =
    read?.type === 'ArrayExpression' && id.type === 'ArrayPattern'
      ? list(read, 'elements').map((key, i) => [key, (id['elements'] as SyntaxNode[])[i]] as const)
      : [[read, id] as const]
  for (const [key, target] of pairs) {
    const kind = key?.type === 'CallExpression' ? nameOf(child(key, 'callee')) : undefined
    if (kind !== undefined && PRESENCE.has(kind) && target && nameOf(target) !== kind) yield target
  }
}

function isNullish(comparison: SyntaxNode): boolean {
  return [child(comparison, 'left'), child(comparison, 'right')].some(
    (side) => nameOf(side) === 'undefined' || (side.type === 'Literal' && side['raw'] === 'null'),
  )
}

/** The expression that a finding shows: the one that uses the value, unless that is a whole statement or function. */
function shown(value: SyntaxNode, parent: SyntaxNode): SyntaxNode {
  return /^(BinaryExpression|CallExpression|MemberExpression|LogicalExpression|UnaryExpression)$/.test(parent.type) ? parent : value
}
