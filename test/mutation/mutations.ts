import { child, children, keyName, list, stringValue, type Source, type SyntaxNode } from '../lint/syntax.ts'

/** A replacement of a part of a source text. */
export interface Mutation {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** A node with its ancestors, the nearest first. */
interface Visit {
  readonly node: SyntaxNode
  readonly ancestors: readonly SyntaxNode[]
  readonly text: string
}

/** The small changes to a file that a test should notice: one for each mistake that a programmer could make in one place. */
export function* mutations({ program, text }: Source): Generator<Mutation> {
  yield* visit({ node: program, ancestors: [], text })
}

function* visit(at: Visit): Generator<Mutation> {
  const { node, ancestors, text } = at
  if (isIgnored(node)) return
  yield* RULES[node.type]?.(at) ?? []
  for (const next of children(node)) yield* visit({ node: next, ancestors: [node, ...ancestors], text })
}

/** Nodes with a value inside. All other nodes of TypeScript are types. */
const TYPED_EXPRESSIONS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])
const LOG_METHODS = new Set(['debug', 'info', 'warn', 'error', 'fatal'])

/** Types, imports, and the contents of log entries. The removal of the whole log entry is a mutation. */
function isIgnored(node: SyntaxNode): boolean {
  if (node.type.startsWith('TS')) return !TYPED_EXPRESSIONS.has(node.type)
  if (node.type === 'ImportDeclaration' || node.type === 'ExportAllDeclaration') return true
  if (node.type !== 'CallExpression') return false
  const { type, object, property, name } = child(node, 'callee') as SyntaxNode & { object?: SyntaxNode; property?: SyntaxNode }
  if (type === 'Identifier') return name === 'log'
  if (type !== 'MemberExpression' || !LOG_METHODS.has(property!['name'] as string)) return false
  return object!['name'] === 'log' || (object!['property'] as SyntaxNode | undefined)?.['name'] === 'log'
}

type Rule = (at: Visit) => Generator<Mutation>

const replace = ({ start, end }: SyntaxNode, replacement: string): Mutation => ({ start, end, replacement })
const textOf = ({ start, end }: SyntaxNode, text: string) => text.slice(start, end)

/** Replaces what is between two children of a node: an operator. */
function replaceBetween(left: SyntaxNode, right: SyntaxNode, from: string, to: string, text: string): Mutation {
  const start = text.indexOf(from, left.end)
  if (start === -1 || start >= right.start) throw new Error(`${from} is not between ${left.end} and ${right.start}`)
  return { start, end: start + from.length, replacement: to }
}

/** A condition as a whole is replaced by `true` and `false` already, so its negation tells nothing more. */
function isWholeCondition({ node, ancestors }: Visit): boolean {
  const [parent] = ancestors
  return parent!['test'] === node && CONDITIONED.has(parent!.type)
}
const CONDITIONED = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement', 'DoWhileStatement', 'ForStatement'])

function* condition({ node }: Visit): Generator<Mutation> {
  const test = node['test'] as SyntaxNode | null
  if (test === null || test.type === 'Literal') return
  yield replace(test, 'false')
  // A loop without an end is killed by the time limit only, which takes long.
  if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') yield replace(test, 'true')
}

const NEGATIONS: Readonly<Record<string, string>> = { '===': '!==', '!==': '===', '<': '>=', '>=': '<', '>': '<=', '<=': '>' }
const BOUNDARIES: Readonly<Record<string, string>> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const ARITHMETIC: Readonly<Record<string, string>> = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }

function* binary(at: Visit): Generator<Mutation> {
  const { node, text } = at
  const operator = node['operator'] as string
  const [left, right] = [child(node, 'left'), child(node, 'right')]
  const to = (other: string) => replaceBetween(left, right, operator, other, text)
  if (BOUNDARIES[operator] !== undefined) yield to(BOUNDARIES[operator])
  if (NEGATIONS[operator] !== undefined && !isWholeCondition(at)) yield to(NEGATIONS[operator])
  if (ARITHMETIC[operator] !== undefined && !isText(left) && !isText(right)) yield to(ARITHMETIC[operator])
  if ((operator === 'in' || operator === 'instanceof') && !isWholeCondition(at))
    yield* ['true', 'false'].map((value) => replace(node, value))
}

const isText = (node: SyntaxNode) => node.type === 'TemplateLiteral' || stringValue(node) !== undefined

function* logical({ node, text }: Visit): Generator<Mutation> {
  const operator = node['operator'] as string
  const [left, right] = [child(node, 'left'), child(node, 'right')]
  yield replace(node, `(${textOf(left, text)})`)
  yield replace(node, `(${textOf(right, text)})`)
  if (operator !== '??') yield replace(node, `(${textOf(left, text)}) ${operator === '&&' ? '||' : '&&'} (${textOf(right, text)})`)
}

const ASSIGNMENTS: Readonly<Record<string, string>> = { '+=': '-=', '-=': '+=', '??=': '=', '||=': '=', '&&=': '=' }

function* assignment({ node, text }: Visit): Generator<Mutation> {
  const operator = node['operator'] as string
  const [left, right] = [child(node, 'left'), child(node, 'right')]
  if (ASSIGNMENTS[operator] !== undefined && !isText(right)) yield replaceBetween(left, right, operator, ASSIGNMENTS[operator], text)
}

function* update({ node, text }: Visit): Generator<Mutation> {
  const [from, to] = node['operator'] === '++' ? ['++', '--'] : ['--', '++']
  yield replace(node, textOf(node, text).replace(from, to))
}

function* unary(at: Visit): Generator<Mutation> {
  const argument = `(${textOf(child(at.node, 'argument'), at.text)})`
  if (at.node['operator'] === '-' || (at.node['operator'] === '!' && !isWholeCondition(at))) yield replace(at.node, argument)
}

function* literal(at: Visit): Generator<Mutation> {
  const { node, text, ancestors } = at
  const [parent] = ancestors
  const { value } = node
  if (parent!['key'] === node || parent!.type === 'ExportNamedDeclaration') return
  if (typeof value === 'boolean' && !isWholeCondition(at)) yield replace(node, String(!value))
  if (typeof value === 'number') yield replace(node, String(value + 1))
  if (typeof value === 'string' && parent!['directive'] === undefined) yield* changedText(node, value)
  if (node['regex'] !== undefined && node['regex'] !== null) yield* pattern(textOf(node, text), node)
}

/** Sentences are for people: no test compares each of them. Everything else that is a string is compared, looked up or sent. */
function* changedText(node: SyntaxNode, value: string): Generator<Mutation> {
  if (/\w,? \w/.test(value)) return
  yield replace(node, value === '' ? `'mutant'` : JSON.stringify(`${value}_`))
}

function* pattern(regex: string, node: SyntaxNode): Generator<Mutation> {
  if (regex.startsWith('/^')) yield replace(node, `/${regex.slice(2)}`)
  const end = regex.lastIndexOf('/')
  if (regex[end - 1] === '$' && regex[end - 2] !== '\\') yield replace(node, regex.slice(0, end - 1) + regex.slice(end))
}

function* template(at: Visit): Generator<Mutation> {
  if (at.ancestors[0]!.type === 'TaggedTemplateExpression') return
  const quasis = list(at.node, 'quasis').map((quasi) => (quasi['value'] as { cooked: string }).cooked)
  if (!/\w,? \w|\w,? $|^ \w/m.test(quasis.join('\n'))) yield replace(at.node, quasis.join('') === '' ? `'mutant'` : `''`)
}

/** Removes each element or member, with the comma behind it. */
function* parts(elements: readonly SyntaxNode[], { node, text }: Visit): Generator<Mutation> {
  if (elements.length === 1) yield replace(node, node.type === 'ArrayExpression' ? '[]' : '({})')
  else
    for (const [i, { start, end }] of elements.entries())
      yield { start, end: i + 1 < elements.length ? text.indexOf(',', end) + 1 : end, replacement: '' }
}

/** Statements that are the only effect of their condition: without them it is as if the condition were false. */
function isOnlyEffect({ node, ancestors: [parent, grandparent] }: Visit): boolean {
  if (parent!.type === 'IfStatement') return parent!['consequent'] === node && parent!['alternate'] === null
  if (parent!.type !== 'BlockStatement' || grandparent?.type !== 'IfStatement') return false
  return list(parent!, 'body').length === 1 && grandparent['consequent'] === parent && grandparent['alternate'] === null
}

function* expressionStatement(at: Visit): Generator<Mutation> {
  const expression = child(at.node, 'expression')
  if (at.node['directive'] !== undefined && at.node['directive'] !== null) return
  // `super()` is needed for an object to exist at all.
  if (expression.type === 'CallExpression' && child(expression, 'callee').type === 'Super') return
  if (!isOnlyEffect(at)) yield replace(at.node, ';')
  if (expression.type === 'AwaitExpression') yield replace(expression, `void ${textOf(child(expression, 'argument'), at.text)}`)
}

/** A jump in the middle of a function. The last `return` of a function is its result: removing it is noticed by every test. */
function* jump(at: Visit): Generator<Mutation> {
  const { ancestors } = at
  const isResult = ancestors[0]!.type === 'BlockStatement' && /Function/.test(ancestors[1]?.type ?? '')
  if (!isResult && !isOnlyEffect(at)) yield replace(at.node, ';')
}

function* throwStatement(at: Visit): Generator<Mutation> {
  if (!isOnlyEffect(at)) yield replace(at.node, ';')
}

const REMOVED_METHODS = new Set(
  'trim trimStart trimEnd toLowerCase toUpperCase toSorted toReversed sort reverse filter slice flat replace replaceAll catch finally'.split(
    ' ',
  ),
)
const SWAPPED_METHODS: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  floor: 'ceil',
  ceil: 'floor',
}

function* call({ node, text }: Visit): Generator<Mutation> {
  const callee = child(node, 'callee')
  if (node['optional'] === true) yield { start: callee.end, end: callee.end + 2, replacement: '' }
  if (callee.type !== 'MemberExpression' || callee['computed'] === true) return
  const property = child(callee, 'property')
  const name = keyName(property, false)!
  if (REMOVED_METHODS.has(name)) yield replace(node, textOf(child(callee, 'object'), text))
  if (SWAPPED_METHODS[name] !== undefined) yield replace(property, SWAPPED_METHODS[name])
}

function* member({ node }: Visit): Generator<Mutation> {
  if (node['optional'] !== true) return
  const { end } = child(node, 'object')
  const { start } = child(node, 'property')
  yield node['computed'] === true ? { start: end, end: end + 2, replacement: '' } : { start: end, end: start, replacement: '.' }
}

const RULES: Readonly<Record<string, Rule>> = {
  IfStatement: condition,
  ConditionalExpression: condition,
  WhileStatement: condition,
  DoWhileStatement: condition,
  ForStatement: condition,
  BinaryExpression: binary,
  LogicalExpression: logical,
  AssignmentExpression: assignment,
  UpdateExpression: update,
  UnaryExpression: unary,
  Literal: literal,
  TemplateLiteral: template,
  ArrayExpression: (at) => parts(list(at.node, 'elements'), at),
  ObjectExpression: (at) => parts(list(at.node, 'properties'), at),
  ExpressionStatement: expressionStatement,
  ReturnStatement: jump,
  ContinueStatement: jump,
  BreakStatement: jump,
  ThrowStatement: throwStatement,
  CallExpression: call,
  MemberExpression: member,
}
