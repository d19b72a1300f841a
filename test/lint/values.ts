import { bind, isFunction, type Binding, type Bindings } from './bindings.ts'
import { child, children, keyName, list, stringValue, type SyntaxNode, type Source } from './syntax.ts'

/**
 * What values of the source code are, as far as access is concerned. Values are recognised by name and followed through variables,
 * destructuring, conversions, templates, functions and imports, in all files together. Types are not known.
 */

/** A set of the flags below: a value can be several of them at once. */
export type Kind = number
/** A role or a visibility. */
const ATTRIBUTE = 1
/** The id of a creator, author or owner. */
export const OWNER = 2
/** The id of a person. */
export const PERSON = 4
/** A value of which the presence decides: a membership, the time of its end, the entry of a board member. */
export const PRESENCE = 8
/** A collection of roles, visibilities or scopes, to look values up in. */
export const TABLE = 16
/** A function of the model that compares by itself: each use of it is a comparison. */
export const PREDICATE = 32
/** The kinds that are compared by what they are, not by whether they are there. */
export const VALUES = ATTRIBUTE | OWNER | PERSON

const NAMES = new Map<string, Kind>([
  ['role', ATTRIBUTE],
  ['visibility', ATTRIBUTE],
  ['creator_id', OWNER],
  ['creatorId', OWNER],
  ['author_id', OWNER],
  ['authorId', OWNER],
  ['owner_id', OWNER],
  ['ownerId', OWNER],
  ['user_id', PERSON],
  ['userId', PERSON],
  ['ended_at', PRESENCE],
  ['endedAt', PRESENCE],
  ['membership', PRESENCE],
  ['boardMember', PRESENCE],
  ['roles', TABLE],
  ['visibilities', TABLE],
  ['isActive', PREDICATE],
])

/** Keys whose records decide by their presence: `keys.membership(…)`. */
const RECORD_KEYS = new Set(['membership', 'boardMember'])

const WRAPPERS = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'ChainExpression',
])

/** Words that mean a role, a visibility, a relation or a scope wherever they are compared. ("workspace" means other things too.) */
export function isAccessWord(node: SyntaxNode | null | undefined): boolean {
  return /^(owner|admin|member|private|creator|kanban:\w+)$/i.test(stringValue(node) ?? '')
}

/** The expression below casts, `!`, `?.` chains and `await`. */
export function unwrap(node: SyntaxNode): SyntaxNode {
  if (WRAPPERS.has(node.type)) return unwrap(child(node, 'expression'))
  return node.type === 'AwaitExpression' ? unwrap(child(node, 'argument')) : node
}

/** The children of a node, without types. */
export function valueChildren(node: SyntaxNode): SyntaxNode[] {
  return children(node).filter(({ type }) => !type.startsWith('TS') || WRAPPERS.has(type) || type === 'TSParameterProperty')
}

interface File {
  readonly source: Source
  readonly bindings: Bindings
  /** Properties that hold such a value under another name: `{ level: member.role }`. */
  readonly properties: Map<string, Kind>
}

export class Values {
  readonly #files: ReadonlyMap<string, File>
  readonly #variables = new Map<Binding, Kind>()
  readonly #returned = new Map<SyntaxNode, Kind>()
  #changed = true

  constructor(sources: readonly Source[]) {
    this.#files = new Map(sources.map((source) => [source.path, { source, bindings: bind(source), properties: new Map() }]))
    // What is known only grows, so this ends.
    while (this.#changed) {
      this.#changed = false
      for (const file of this.#files.values()) this.#follow(file, file.source.program, undefined)
    }
  }

  /** What an expression of a file is. For a function that is written in place: what it returns. */
  kindOf(path: string, expression: SyntaxNode): Kind {
    return this.#returned.get(expression) ?? this.#kind(this.#files.get(path)!, expression)
  }

  #kind(file: File, wrapped: SyntaxNode): Kind {
    const node = unwrap(wrapped)
    const either = (...members: string[]): Kind => members.reduce((kind, member) => kind | this.#kind(file, child(node, member)), 0)
    switch (node.type) {
      case 'Identifier':
        return this.#identifier(file, node)
      case 'MemberExpression':
        return this.#member(file, node)
      case 'ConditionalExpression':
        return either('consequent', 'alternate')
      case 'LogicalExpression':
        return either('left', 'right')
      case 'BinaryExpression':
        return node['operator'] === '+' ? either('left', 'right') : 0
      case 'AssignmentExpression':
        return either('right')
      case 'SpreadElement':
        return either('argument')
      case 'SequenceExpression':
        return this.#kind(file, list(node, 'expressions').at(-1)!)
      case 'TemplateLiteral':
        return this.#any(file, list(node, 'expressions'))
      case 'ArrayExpression':
        return this.#any(file, list(node, 'elements')) | (list(node, 'elements').some(isAccessWord) ? TABLE : 0)
      case 'ObjectExpression':
        return list(node, 'properties').some((property) => /^(owner|admin|private)$/.test(nameOfProperty(property) ?? '')) ? TABLE : 0
      case 'NewExpression':
        return this.#any(file, list(node, 'arguments'))
      case 'CallExpression':
        return this.#call(file, node)
      default:
        return 0
    }
  }

  #identifier(file: File, node: SyntaxNode): Kind {
    const binding = file.bindings.of(node)
    const named = NAMES.get(binding?.imported?.name ?? (node['name'] as string)) ?? 0
    const known = this.#variables.get(this.#resolve(file, binding).binding!) ?? 0
    // A file may have a predicate of the same name about something else.
    return known | (binding?.function === undefined ? named : named & ~PREDICATE)
  }

  #any(file: File, nodes: readonly SyntaxNode[]): Kind {
    return nodes.reduce((kind, node) => kind | this.#kind(file, node), 0)
  }

  #member(file: File, node: SyntaxNode): Kind {
    const name = keyName(child(node, 'property'), node['computed'])
    const named = name === undefined ? 0 : (NAMES.get(name) ?? 0) | (file.properties.get(name) ?? 0)
    const object = this.#kind(file, child(node, 'object'))
    // A part of a role is a role, as `role.length` or `[role][0]`; a part of a record is not the record.
    return named | (object & VALUES)
  }

  #call(file: File, node: SyntaxNode): Kind {
    const callee = unwrap(child(node, 'callee'))
    const args = list(node, 'arguments')
    if (callee.type === 'Identifier') {
      const { binding } = this.#resolve(file, file.bindings.of(callee))
      // An unknown function may convert its argument, as `String(role)` does.
      return binding?.function === undefined ? this.#any(file, args) : (this.#returned.get(binding.function) ?? 0)
    }
    if (callee.type !== 'MemberExpression') return 0
    const object = unwrap(child(callee, 'object'))
    // `Object.keys(table)` converts its argument; `role.trim()` and `roles.slice(1)` convert their receiver.
    const isGlobal = object.type === 'Identifier' && file.bindings.of(object) === undefined
    const converted = (isGlobal ? this.#any(file, args) : 0) | (this.#kind(file, object) & ~PRESENCE)
    const read = args.some((argument) => isRecordKey(argument)) ? PRESENCE : 0
    const mapped = args.reduce((kind, argument) => kind | (isFunction(argument) ? (this.#returned.get(argument) ?? 0) : 0), 0)
    return converted | mapped | read
  }

  /** The binding that an import stands for, and its file; the import itself where that file is not analysed. */
  #resolve(file: File, binding: Binding | undefined): { readonly file: File; readonly binding: Binding | undefined } {
    const home = binding?.imported === undefined ? undefined : this.#files.get(binding.imported.path)
    const target = home?.bindings.exported(binding!.imported!.name)
    return home === undefined || target === undefined ? { file, binding } : this.#resolve(home, target)
  }

  #learn<Key>(known: Map<Key, Kind>, key: Key, kind: Kind): void {
    const before = known.get(key) ?? 0
    if ((before | kind) === before) return
    known.set(key, before | kind)
    this.#changed = true
  }

  #follow(file: File, node: SyntaxNode, inside: SyntaxNode | undefined): void {
    const kind = (member: string): Kind => (node[member] == null ? 0 : this.#kind(file, child(node, member)))
    if (node.type === 'VariableDeclarator') this.#assign(file, child(node, 'id'), kind('init'), node['init'] as SyntaxNode | null)
    if (node.type === 'AssignmentExpression') this.#assign(file, child(node, 'left'), kind('right'), child(node, 'right'))
    if (node.type === 'AssignmentPattern') this.#assign(file, child(node, 'left'), kind('right'), null)
    if (node.type === 'ForOfStatement') this.#followLoop(file, node, kind('right'))
    if (node.type === 'Property' || node.type === 'PropertyDefinition') this.#followProperty(file, node)
    if (node.type === 'CallExpression') this.#followCall(file, node)
    if (isFunction(node)) for (const parameter of list(node, 'params')) this.#assign(file, parameter, 0, null)
    if (node.type === 'ReturnStatement' && inside !== undefined) this.#learn(this.#returned, inside, kind('argument'))
    if (node.type === 'ArrowFunctionExpression' && node['expression'] === true) this.#learn(this.#returned, node, kind('body'))
    for (const below of valueChildren(node)) this.#follow(file, below, isFunction(node) ? node : inside)
  }

  #followLoop(file: File, node: SyntaxNode, kind: Kind): void {
    const left = child(node, 'left')
    const pattern = left.type === 'VariableDeclaration' ? child(list(left, 'declarations')[0]!, 'id') : left
    this.#assign(file, pattern, elementOf(kind), null)
  }

  #followProperty(file: File, property: SyntaxNode): void {
    const name = nameOfProperty(property)
    const value = property['value'] as SyntaxNode | null
    if (name === undefined || value === null || isFunction(value) || value.type.endsWith('Pattern')) return
    const kind = this.#kind(file, value) & (ATTRIBUTE | OWNER)
    if (!NAMES.has(name)) this.#learn(file.properties, name, kind)
  }

  /** Hands the arguments of a call to the parameters of the function, and the elements of a collection to a callback. */
  #followCall(file: File, node: SyntaxNode): void {
    const callee = unwrap(child(node, 'callee'))
    const args = list(node, 'arguments')
    const target = callee.type === 'Identifier' ? this.#resolve(file, file.bindings.of(callee)) : undefined
    if (target?.binding?.function !== undefined)
      for (const [i, parameter] of list(target.binding.function, 'params').entries())
        if (args[i] !== undefined) this.#assign(target.file, parameter, this.#kind(file, args[i]) & (ATTRIBUTE | OWNER | PRESENCE), null)
    if (callee.type !== 'MemberExpression') return
    const elements = elementOf(this.#kind(file, child(callee, 'object')))
    for (const callback of args.filter(isFunction))
      for (const parameter of list(callback, 'params').slice(0, 1)) this.#assign(file, parameter, elements, null)
  }

  /** Gives a variable, a property or all names of a pattern what is assigned to them. */
  #assign(file: File, target: SyntaxNode, kind: Kind, value: SyntaxNode | null): void {
    if (target.type === 'Identifier') {
      const binding = file.bindings.of(target)
      if (binding !== undefined) this.#learn(this.#variables, binding, kind)
    } else if (target.type === 'MemberExpression') {
      const name = keyName(child(target, 'property'), target['computed'])
      if (name !== undefined && !NAMES.has(name)) this.#learn(file.properties, name, kind & (ATTRIBUTE | OWNER))
    } else if (target.type === 'AssignmentPattern') {
      this.#assign(file, child(target, 'left'), kind, value)
    } else if (target.type === 'TSParameterProperty') {
      this.#assign(file, child(target, 'parameter'), kind, value)
    } else if (target.type === 'ArrayPattern') {
      const read = value === null ? [] : elementsRead(unwrap(value))
      for (const [i, element] of (target['elements'] as (SyntaxNode | null)[]).entries())
        if (element !== null) this.#assign(file, element, elementOf(kind) | (isRecordKey(read[i]) ? PRESENCE : 0), null)
    } else if (target.type === 'ObjectPattern') {
      for (const property of list(target, 'properties').filter(({ type }) => type === 'Property')) {
        const name = nameOfProperty(property) ?? ''
        this.#assign(file, child(property, 'value'), (NAMES.get(name) ?? 0) | (file.properties.get(name) ?? 0), null)
      }
    }
  }
}

/** What an element of such a collection is: the elements of a table are roles. */
function elementOf(kind: Kind): Kind {
  return (kind & TABLE ? ATTRIBUTE : 0) | (kind & VALUES)
}

/** The keys of `tx.read([…])`. */
function elementsRead(call: SyntaxNode): SyntaxNode[] {
  const [argument] = call.type === 'CallExpression' ? list(call, 'arguments') : []
  return argument?.type === 'ArrayExpression' ? list(argument, 'elements') : []
}

function isRecordKey(node: SyntaxNode | undefined): boolean {
  if (node?.type !== 'CallExpression') return false
  const callee = child(node, 'callee')
  return callee.type === 'MemberExpression' && RECORD_KEYS.has(keyName(child(callee, 'property'), callee['computed']) ?? '')
}

function nameOfProperty(property: SyntaxNode): string | undefined {
  return property['key'] === undefined ? undefined : keyName(child(property, 'key'), property['computed'])
}
