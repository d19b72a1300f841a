import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

// Expands the hand-written oracle (policies/decisions) to cells. This file shares no code with the engine, the
// operations table or the vocabulary.

/** An outcome as the grids state it. */
export type GridOutcome = 'ok' | 403 | 404

export interface OracleOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly scope: 'read' | 'write' | 'admin'
  readonly row: string
  readonly permission: string
  /** the name of a grid, or field → name of a grid */
  readonly grid: string | Readonly<Record<string, string>>
  /** member of the body → what is decided about each of its items */
  readonly also: Readonly<Record<string, OracleAddition>>
}

/** A decision about each item of a member of the body. */
export interface OracleAddition {
  readonly row: string
  readonly permission: string
  readonly grid: string
}

export interface OracleCell {
  readonly facts: Readonly<Record<string, string>>
  readonly field?: string | undefined
  readonly expected: GridOutcome | 401
  /** whether it stands for the other cells of its case: the representatives of a grid have all facts that its cases have */
  readonly representative?: boolean
}

type Grid = GridOutcome | ({ down: string; across?: string } & Record<string, GridOutcome | GridOutcome[]>)

const read = (name: string) => parse(readFileSync(new URL(`../../policies/decisions/${name}.yaml`, import.meta.url), 'utf8'))
const { axes: cases, grids } = read('grids') as { axes: Record<string, object>; grids: Record<string, Grid> }
// Only the names of the cases. Which facts they stand for is stated here once more.
const axes = Object.fromEntries(Object.entries(cases).map(([axis, ofAxis]) => [axis, Object.keys(ofAxis)]))

type Row = readonly [string, string, 'read', string, string, string, Readonly<Record<string, readonly [string, string, string]>>?]

export const oracleOperations: readonly OracleOperation[] = Object.entries(
  (read('operations') as { operations: Record<string, Row> }).operations,
).map(([id, [method, path, scope, row, permission, grid, also = {}]]) => {
  const additions = Object.entries(also).map(([member, [ofRow, ofPermission, ofGrid]]) => [
    member,
    { row: ofRow, permission: ofPermission, grid: ofGrid },
  ])
  return { id, method, path, scope, row, permission, grid, also: Object.fromEntries(additions) }
})

/** What only the web app does: its permission has no scope. */
export const oracleWebActions: readonly Pick<OracleOperation, 'id' | 'row' | 'permission' | 'grid'>[] = Object.entries(
  (read('operations') as { web_app: Record<string, readonly [string, string, string]> }).web_app,
).map(([id, [row, permission, grid]]) => ({ id, row, permission, grid }))

/** Every cell of an operation's grid, for every role, and for active and ended memberships. */
export function oracleCells({ grid }: Pick<OracleOperation, 'grid'>): readonly OracleCell[] {
  if (typeof grid === 'string') return gridCells(grid)
  return Object.entries(grid).flatMap(([field, name]) => gridCells(name).map((cell) => ({ ...cell, field })))
}

const cellsByGrid = new Map<string, readonly OracleCell[]>()

function gridCells(name: string): readonly OracleCell[] {
  const cells = cellsByGrid.get(name) ?? expandGrid(name)
  cellsByGrid.set(name, cells)
  return cells
}

function expandGrid(name: string): OracleCell[] {
  const grid = grids[name]
  if (grid === undefined) throw new Error(`the oracle has no grid "${name}"`)
  const rows = typeof grid === 'object' ? Object.entries(grid).filter(([row]) => row !== 'down' && row !== 'across') : [['', grid] as const]
  const down = typeof grid === 'object' ? grid.down : undefined
  const axis = typeof grid === 'object' ? grid.across : undefined
  const turns: Turns = { active: 0, ended: 0 }
  return rows.flatMap(([row, outcomes]) => {
    const columns =
      axis === undefined
        ? [['', outcomes as GridOutcome] as const]
        : axes[axis]!.map((column, i) => [column, (outcomes as GridOutcome[])[i]!] as const)
    return columns.flatMap(([column, outcome]) => expand({ down, row: row as string }, axis, column, outcome, turns))
  })
}

/** For each membership, how many cases have been expanded: the representatives take turns. */
type Turns = Record<'active' | 'ended', number>

function expand(
  { down, row }: { down: string | undefined; row: string },
  axis: string | undefined,
  column: string,
  outcome: GridOutcome,
  turns: Turns,
): OracleCell[] {
  if (outcome !== 'ok' && outcome !== 403 && outcome !== 404) throw new Error(`the oracle has no outcome for "${row}", "${column}"`)
  const ofRole = { [axis ?? '']: column, [down ?? '']: row }['role']
  const roles = ofRole === undefined ? axes['role']! : [ofRole]
  return roles.flatMap((role) =>
    (['active', 'ended'] as const).flatMap((membership) => {
      const facts = caseFacts(down, row).flatMap((rowFacts) =>
        caseFacts(axis, column).map((columnFacts) => ({ ...rowFacts, ...columnFacts })),
      )
      const representative = turns[membership]++ % facts.length
      return facts.map((ofCase, i) => ({
        facts: { 'caller.membership': membership, 'caller.role': role, ...ofCase },
        expected: membership === 'ended' ? (401 as const) : outcome,
        representative: i === representative,
      }))
    }),
  )
}

const VISIBILITIES = ['workspace', 'board', 'private']
const HOMES = ['workspace', 'private_member', 'private_other', 'deleted']

/** The facts of a file, of each visibility and home board among these. */
function fileFacts(owner: 'caller' | 'other', visibilities: readonly string[], homes: readonly string[]): Record<string, string>[] {
  return visibilities.flatMap((visibility) =>
    homes.map((home) => ({ 'file.owner': owner, 'file.visibility': visibility, 'home.board': home })),
  )
}

/** The facts that a case of the axis `file` stands for. */
function fileCase(column: string): Record<string, string>[] {
  const [visibility = '', home] = column.split(' ')
  if (visibility === 'own') return fileFacts('caller', VISIBILITIES, HOMES)
  return fileFacts('other', [visibility], home === undefined ? HOMES : [home])
}

/** The facts that a case stands for. A card without a cover stands for all facts of a file. */
function caseFacts(axis: string | undefined, column: string): Record<string, string>[] {
  const words = column.split(' ')
  const person = (word: string | undefined) => (word === 'own' ? 'caller' : 'other')
  if (axis === 'board') return [{ 'board.visibility': words[0]!, 'board.caller': words[1]! }]
  if (axis === 'comment') return [{ 'comment.author': person(column) }]
  if (axis === 'label') return [{ 'label.board': column }]
  if (axis === 'user') return [{ 'user.membership': words[0]!, 'user.board': words[1]! }]
  if (axis === 'file') return fileCase(column)
  if (axis !== 'cover') return [{}]
  const files = column === 'none' ? axes['file']!.flatMap(fileCase) : fileCase(words.slice(1).join(' '))
  return files.map((facts) => ({ 'cover.state': column === 'none' ? 'none' : 'set', ...facts }))
}
