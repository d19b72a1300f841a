import { child, children, importsOf, list, type SyntaxNode, type Source } from './syntax.ts'

/** A name that a file declares: a variable, parameter, function, class or import. */
export interface Binding {
  readonly name: string
  /** The function that the name stands for, where its declaration says so. */
  function?: SyntaxNode
  /** What an import or a re-export stands for. */
  imported?: { readonly path: string; readonly name: string }
}

/** The bindings of one file. */
export interface Bindings {
  /** The binding that an identifier refers to; undefined for a global. */
  of(identifier: SyntaxNode): Binding | undefined
  /** The binding that is exported under a name. */
  exported(name: string): Binding | undefined
}

class Scope {
  readonly #names = new Map<string, Binding>()
  readonly #parent: Scope | undefined

  constructor(parent: Scope | undefined) {
    this.#parent = parent
  }

  declare(name: SyntaxNode, value?: SyntaxNode | null): Binding {
    const text = name['name'] as string
    const binding: Binding = this.#names.get(text) ?? { name: text }
    this.#names.set(text, binding)
    if (value && isFunction(value)) binding.function = value
    return binding
  }

  find(name: SyntaxNode): Binding | undefined {
    return this.#names.get(name['name'] as string) ?? this.#parent?.find(name)
  }
}

/** Nodes that open a scope, besides functions. `var` counts as block-scoped. */
const BLOCKS = new Set(['BlockStatement', 'ForStatement', 'ForOfStatement', 'ForInStatement', 'CatchClause', 'SwitchStatement'])

export function isFunction(node: SyntaxNode | null | undefined): boolean {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node?.type ?? '')
}

/** Resolves the names of one file. */
export function bind(source: Source): Bindings {
  const top = new Scope(undefined)
  const scopes = new Map<SyntaxNode, Scope>()
  const visit = (node: SyntaxNode, outer: Scope): void => {
    declareOutside(source, node, outer)
    const scope = BLOCKS.has(node.type) || isFunction(node) ? new Scope(outer) : outer
    declareInside(node, scope)
    if (node.type === 'Identifier') scopes.set(node, scope)
    for (const below of children(node)) visit(below, scope)
  }
  visit(source.program, top)
  const exports = new Map(list(source.program, 'body').flatMap((statement) => exportsOf(source, statement, top)))
  return { of: (identifier) => scopes.get(identifier)?.find(identifier), exported: (name) => exports.get(name) }
}

/** Declares what a statement adds to the scope that it is in. */
function declareOutside(source: Source, node: SyntaxNode, scope: Scope): void {
  if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') {
    if (node['id'] !== null) scope.declare(child(node, 'id'), node)
  } else if (node.type === 'VariableDeclarator') {
    const id = child(node, 'id')
    for (const name of patternNames(id)) scope.declare(name, name === id ? (node['init'] as SyntaxNode | null) : null)
  } else if (node.type === 'ImportDeclaration') {
    const path = importsOf({ ...source, program: node })[0]?.path
    for (const specifier of list(node, 'specifiers')) {
      const binding = scope.declare(child(specifier, 'local'))
      if (path !== undefined && specifier.type === 'ImportSpecifier') binding.imported = { path, name: nameOf(specifier, 'imported') }
    }
  }
}

/** Declares what a node adds to its own scope. */
function declareInside(node: SyntaxNode, scope: Scope): void {
  if (node.type === 'FunctionExpression' && node['id'] !== null) scope.declare(child(node, 'id'), node)
  const patterns = isFunction(node) ? list(node, 'params') : []
  if (node.type === 'CatchClause' && node['param'] !== null) patterns.push(child(node, 'param'))
  for (const pattern of patterns) for (const name of patternNames(pattern)) scope.declare(name)
}

/** The identifiers that a pattern declares or assigns. */
function* patternNames(pattern: SyntaxNode): Generator<SyntaxNode> {
  if (pattern.type === 'Identifier') yield pattern
  else if (pattern.type === 'AssignmentPattern') yield* patternNames(child(pattern, 'left'))
  else if (pattern.type === 'RestElement') yield* patternNames(child(pattern, 'argument'))
  else if (pattern.type === 'TSParameterProperty') yield* patternNames(child(pattern, 'parameter'))
  else if (pattern.type === 'ArrayPattern') for (const element of list(pattern, 'elements')) yield* patternNames(element)
  else if (pattern.type === 'ObjectPattern')
    for (const property of list(pattern, 'properties'))
      yield* patternNames(property.type === 'RestElement' ? property : child(property, 'value'))
}

function exportsOf(source: Source, statement: SyntaxNode, top: Scope): [string, Binding][] {
  if (statement.type !== 'ExportNamedDeclaration') return []
  const path = statement['source'] === null ? undefined : importsOf({ ...source, program: statement })[0]?.path
  const specifiers = list(statement, 'specifiers').map((specifier): [string, Binding | undefined] => {
    const name = nameOf(specifier, 'local')
    return [nameOf(specifier, 'exported'), path === undefined ? top.find(child(specifier, 'local')) : { name, imported: { path, name } }]
  })
  const declaration = statement['declaration'] as SyntaxNode | null
  const patterns = declaration?.type === 'VariableDeclaration' ? list(declaration, 'declarations').map((one) => child(one, 'id')) : []
  if (declaration !== null && isFunction(declaration)) patterns.push(child(declaration, 'id'))
  const declared = patterns
    .flatMap((pattern) => [...patternNames(pattern)])
    .map((name) => [name['name'] as string, top.find(name)] as const)
  return [...specifiers, ...declared].filter((pair): pair is [string, Binding] => pair[1] !== undefined)
}

function nameOf(node: SyntaxNode, member: string): string {
  return child(node, member)['name'] as string
}
