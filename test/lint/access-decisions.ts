import { child, keyName, list, stringValue, type SyntaxNode, type Source } from './syntax.ts'
import { isAccessWord, OWNER, PERSON, PREDICATE, PRESENCE, TABLE, unwrap, valueChildren, Values, VALUES, type Kind } from './values.ts'

/**
 * Finds code that decides about access by itself: a comparison, a lookup or a test of a role, a membership, a visibility, the
 * creator of a board, the author of a comment, the owner of a file, or the id of a person. Such decisions belong to `policies/`.
 */

export interface Finding {
  readonly path: string
  readonly line: number
  /** The source text, with each run of white space written as one space. */
  readonly expression: string
}

const COMPARISONS = new Set(['===', '!==', '==', '!=', '<', '<=', '>', '>=', 'in'])

/** Methods that compare their receiver with an argument, or look one of them up in the other. */
const COMPARING = new RegExp(
  `^(${[
    'is|equals?|isEqual|deepEqual|isDeepStrictEqual|timingSafeEqual|localeCompare|match|matchAll|startsWith|endsWith|test|exec|search',
    'includes|indexOf|lastIndexOf|has|hasOwn|hasOwnProperty|get|some|every|find|findIndex|findLast|findLastIndex|filter|groupBy',
    'parse|safeParse|call|apply',
  ].join('|')})$`,
)

/** Where the value of an expression chooses what happens next. */
const TESTS: Readonly<Record<string, string>> = {
  IfStatement: 'test',
  ConditionalExpression: 'test',
  WhileStatement: 'test',
  DoWhileStatement: 'test',
  ForStatement: 'test',
  LogicalExpression: 'left',
}

type KindOf = (expression: SyntaxNode) => Kind

/** @returns the findings of all files, in source order; of findings inside of each other the outermost */
export function findAccessDecisions(sources: readonly Source[]): Finding[] {
  const values = new Values(sources)
  return sources.flatMap((source) => {
    const decisions = decisionsBelow(source.program, (expression) => values.kindOf(source.path, expression))
    return decisions.map(({ start, end }) => ({
      path: source.path,
      line: source.text.slice(0, start).split('\n').length,
      expression: source.text.slice(start, end).replace(/\s+/g, ' '),
    }))
  })
}

function decisionsBelow(node: SyntaxNode, kindOf: KindOf): SyntaxNode[] {
  const decision = decisionAt(node, kindOf)
  if (decision === node) return [node]
  const below = valueChildren(node).filter((one) => one !== decision)
  return [...(decision === undefined ? [] : [decision]), ...below.flatMap((one) => decisionsBelow(one, kindOf))]
}

/** The expression with which this node decides: the node itself, or the part of a statement that chooses. */
function decisionAt(node: SyntaxNode, kindOf: KindOf): SyntaxNode | undefined {
  switch (node.type) {
    case 'BinaryExpression':
      return comparesAccess(node, kindOf) ? node : undefined
    case 'CallExpression':
      return usesPredicate(node, kindOf) || callCompares(node, kindOf) ? node : undefined
    case 'MemberExpression':
      return looksUp(node, kindOf) ? node : undefined
    case 'SwitchStatement':
      return switches(node, kindOf) ? child(node, 'discriminant') : undefined
    case 'UnaryExpression':
      return node['operator'] === '!' && kindOf(child(node, 'argument')) & PRESENCE ? node : undefined
    case 'ObjectPattern':
      return list(node, 'properties').find((property) => property['computed'] === true && kindOf(child(property, 'key')) & VALUES)
  }
  const test = TESTS[node.type] === undefined ? null : (node[TESTS[node.type]!] as SyntaxNode | null)
  return test !== null && kindOf(test) & PRESENCE ? test : undefined
}

function comparesAccess(node: SyntaxNode, kindOf: KindOf): boolean {
  if (!COMPARISONS.has(node['operator'] as string)) return false
  const sides = [child(node, 'left'), child(node, 'right')]
  const kind = sides.reduce((known, side) => known | kindOf(side), 0)
  // Every record has a role and a creator, so that a value is absent decides nothing, unless it is one whose presence decides.
  if (sides.some(isNullish)) return (kind & PRESENCE) !== 0
  return (kind & (VALUES | PRESENCE)) !== 0 || sides.some(isAccessWord) || (node['operator'] === 'in' && (kind & TABLE) !== 0)
}

function callCompares(node: SyntaxNode, kindOf: KindOf): boolean {
  const callee = unwrap(child(node, 'callee'))
  const args = list(node, 'arguments')
  const kinds = args.map(kindOf)
  const method = callee.type === 'MemberExpression'
  const name = method ? keyName(child(callee, 'property'), callee['computed']) : callee['name']
  if (typeof name === 'string' && COMPARING.test(name)) {
    const receiver = method ? kindOf(child(callee, 'object')) : 0
    if (receiver & (VALUES | TABLE) || kinds.some((kind) => kind & (VALUES | TABLE | PRESENCE)) || args.some(isAccessWord)) return true
  }
  // Two ids that go into one call are compared there, except where a storage key is made of them.
  const key = method && unwrap(child(callee, 'object'))['name'] === 'keys'
  return !key && kinds.some((kind, i) => kind & OWNER && kinds.some((other, j) => i !== j && other & (OWNER | PERSON)))
}

function usesPredicate(call: SyntaxNode, kindOf: KindOf): boolean {
  return [child(call, 'callee'), ...list(call, 'arguments')].some((value) => kindOf(value) & PREDICATE)
}

/** `rights[role]`, `RANKS[x]` of a table of roles. A constant key chooses nothing. */
function looksUp(node: SyntaxNode, kindOf: KindOf): boolean {
  const property = child(node, 'property')
  if (node['computed'] !== true || property.type === 'Literal' || stringValue(property) !== undefined) return false
  return (kindOf(property) & VALUES) !== 0 || (kindOf(child(node, 'object')) & TABLE) !== 0
}

function switches(node: SyntaxNode, kindOf: KindOf): boolean {
  const tests = list(node, 'cases').flatMap((one) => (one['test'] === null ? [] : [child(one, 'test')]))
  return [child(node, 'discriminant'), ...tests].some((part) => isAccessWord(part) || kindOf(part) & (VALUES | PRESENCE))
}

function isNullish(node: SyntaxNode): boolean {
  return (
    (node.type === 'Identifier' && node['name'] === 'undefined') ||
    (node.type === 'Literal' && node['value'] === null && node['raw'] === 'null') ||
    (node.type === 'UnaryExpression' && ['void', 'typeof'].includes(node['operator'] as string))
  )
}
