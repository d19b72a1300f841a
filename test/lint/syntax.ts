import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vitest/node'

/** A node of the syntax tree (ESTree with TypeScript). The members beyond these three depend on `type`. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** One parsed source file. `path` is relative to the root of the repository. */
export interface Source {
  readonly path: string
  readonly text: string
  readonly program: SyntaxNode
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The paths of all files below a folder of the repository, relative to its root. Installed packages are left out. */
export function filesBelow(folder: string): string[] {
  return (
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      // Packages, and what generators of clients have written.
      .filter((path) => !/(?:node_modules|\.generated)\//.test(path))
      .toSorted()
  )
}

/** Whether there is a file at a path relative to the root of the repository. */
export function isFile(path: string): boolean {
  return existsSync(join(root, path))
}

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/**
 * Parses TypeScript with the parser that vitest re-exports from vite (oxc). TypeScript 7 has no JavaScript API, and another parser
 * would add a package to the lock.
 */
export function parse(path: string, text: string = readText(path)): Source {
  return { path, text, program: parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

/** The direct children of a node, in source order. */
export function children(node: SyntaxNode): SyntaxNode[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter(isNode)
}

/** The node and all nodes below it. */
export function* descendants(node: SyntaxNode): Generator<SyntaxNode> {
  yield node
  for (const child of children(node)) yield* descendants(child)
}

export function child(node: SyntaxNode, member: string): SyntaxNode {
  return node[member] as SyntaxNode
}

/** A list member; the holes of an array are left out. */
export function list(node: SyntaxNode, member: string): SyntaxNode[] {
  return ((node[member] ?? []) as (SyntaxNode | null)[]).filter((item) => item !== null)
}

/** The value of a string literal, or of a template without expressions. */
export function stringValue(node: SyntaxNode | null | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node?.type === 'TemplateLiteral' && list(node, 'expressions').length === 0)
    return (list(node, 'quasis')[0]!['value'] as { cooked: string }).cooked
  return undefined
}

/** The name of a property or key: `a.name`, `a['name']`, `{ name: … }`, `this.#name`. Undefined where it is computed. */
export function keyName(key: SyntaxNode, computed: unknown): string | undefined {
  if (computed === true) return stringValue(key)
  return key.type === 'Literal' ? String(key['value']) : (key['name'] as string)
}

export interface Import {
  /** What is imported, as it is written. Undefined for `import(expression)`. */
  readonly specifier: string | undefined
  /** The path of an imported file of the repository. */
  readonly path: string | undefined
  /** Whether the import does not exist after compilation. */
  readonly typeOnly: boolean
}

/** All that a file imports: statically, dynamically, as a type, and by re-export. */
export function importsOf({ path, program }: Source): Import[] {
  return [...descendants(program)]
    .filter(
      ({ type, source }) =>
        ['ImportDeclaration', 'ExportAllDeclaration', 'ImportExpression', 'TSImportType'].includes(type) ||
        (type === 'ExportNamedDeclaration' && source !== null),
    )
    .map((node) => {
      const specifier = stringValue((node['source'] ?? node['argument']) as SyntaxNode)
      const typeOnly = node.type === 'TSImportType' || node['importKind'] === 'type' || node['exportKind'] === 'type'
      return { specifier, path: specifier?.startsWith('.') === true ? join(dirname(path), specifier) : undefined, typeOnly }
    })
}
