import { mkdtempSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { policyPaths, type PolicyFile, type PolicyFiles } from '../../src/policy/engine.ts'
import type { SourceFile } from '../../src/policy/source.ts'
import { shippedFiles } from './policy.ts'

/** A policy that holds and is not the shipped one: only the creator of a board changes labels, and columns are restored with kanban:admin. */
export const otherFiles: PolicyFiles = edit(shippedFiles, [
  [
    'permissions',
    'action: update\n    subject: Label\n    conditions: { board.access: true }',
    'action: update\n    subject: Label\n    conditions: { board.access: true, board.caller: creator }',
  ],
  ['operations', 'X4,  update Label,          access]', 'X4,  update Label,          creator]'],
  [
    'scopes',
    'action: [create, rename, move, archive, restore]\n    subject: Column',
    'action: [create, rename, move, archive]\n    subject: Column',
  ],
  [
    'scopes',
    '  - id: S3.deletion\n',
    '  - id: S3.columns\n    row: S3\n    action: restore\n    subject: Column\n    conditions: { token.scope: "kanban:admin" }\n    reason: because\n\n  - id: S3.deletion\n',
  ],
  ['specification', 'X1: { scope: "kanban:write"', 'X1: { scope: "kanban:admin"'],
  ['operations', 'columns/{column_id}/restore",          write, X1,', 'columns/{column_id}/restore",          admin, X1,'],
])

/** The same, and only the creator of a board deletes its cards: row P10 of the specification says something else. */
export const departing: PolicyFiles = edit(otherFiles, [
  ['operations', 'admin, P10, delete Card,           access]', 'admin, P10, delete Card,           creator]'],
  [
    'permissions',
    '    action: delete\n    subject: Card\n    conditions: { board.access: true }',
    '    action: delete\n    subject: Card\n    conditions: { board.access: true, board.caller: creator }',
  ],
])

/** Files of a policy with texts replaced. @throws {Error} if a text does not occur exactly once */
export function edit(files: PolicyFiles, edits: readonly (readonly [file: PolicyFile, from: string, to: string])[]): PolicyFiles {
  const edited: Record<PolicyFile, SourceFile> = { ...files }
  for (const [file, from, to] of edits) {
    const { path, text } = edited[file]
    if (text.split(from).length !== 2) throw new Error(`"${from}" does not occur exactly once in ${path}`)
    edited[file] = { path, text: text.replace(from, () => to) }
  }
  return edited
}

/** A new folder for a policy. */
export function policyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'policy-'))
}

/** Writes a policy to a folder. */
export async function writePolicy(folder: string, files: PolicyFiles, widenings?: string): Promise<void> {
  await mkdir(join(folder, 'decisions'), { recursive: true })
  for (const [name, path] of Object.entries(policyPaths)) await writeFile(join(folder, path), files[name as PolicyFile].text)
  if (widenings !== undefined) await writeFile(join(folder, 'widenings.yaml'), widenings)
}
