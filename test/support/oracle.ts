import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

/**
 * Expands the hand-written oracle (fixtures/decisions) to cells. It shares no code with the engine, the
 * operations table or the vocabulary.
 */
export type Expected = 'ok' | 401 | 403 | 404

export interface OracleOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly scope: 'read' | 'write' | 'admin'
  readonly row: string
  readonly pair: string
  readonly grid: string | Readonly<Record<string, string>>
}

export interface OracleCell {
  readonly facts: Readonly<Record<string, string>>
  readonly field?: string
  readonly expected: Expected
}

type Answer = 'ok' | 403 | 404
type Grid = Answer | ({ across?: string } & Record<string, Answer | Answer[]>)

const read = (name: string) => parse(readFileSync(new URL(`../../fixtures/decisions/${name}.yaml`, import.meta.url), 'utf8'))
const { axes, grids } = read('grids') as { axes: Record<string, string[]>; grids: Record<string, Grid> }

export const oracleOperations: readonly OracleOperation[] = Object.entries(
  read('operations') as Record<string, [string, string, 'read', string, string, string]>,
).map(([id, [method, path, scope, row, pair, grid]]) => ({ id, method, path, scope, row, pair, grid }))

/** Every situation of an operation's grid, with every role, for active and for ended memberships. */
export function oracleCells(operation: OracleOperation): OracleCell[] {
  if (typeof operation.grid === 'string') return gridCells(operation.grid)
  return Object.entries(operation.grid).flatMap(([field, grid]) => gridCells(grid).map((cell) => ({ ...cell, field })))
}

function gridCells(name: string): OracleCell[] {
  const grid = grids[name]
  if (grid === undefined) throw new Error(`the oracle has no grid "${name}"`)
  const situations = typeof grid === 'object' ? Object.entries(grid).filter(([row]) => row !== 'across') : [['', grid] as const]
  const across = typeof grid === 'object' ? grid.across : undefined
  return situations.flatMap(([row, answers]) => {
    const columns =
      across === undefined
        ? [['', answers as Answer] as const]
        : axes[across]!.map((column, i) => [column, (answers as Answer[])[i]!] as const)
    return columns.flatMap(([column, answer]) => expand(row as string, across, column, answer))
  })
}

function expand(row: string, across: string | undefined, column: string, answer: Answer): OracleCell[] {
  if (answer !== 'ok' && answer !== 403 && answer !== 404) throw new Error(`the oracle has no answer for "${row}", "${column}"`)
  const roles = across === 'role' ? [column] : axes['role']!
  return roles.flatMap((role) =>
    ['active', 'ended'].flatMap((membership) =>
      targets(across, column).map((target) => ({
        facts: { 'caller.membership': membership, 'caller.role': role, ...board(row), ...target },
        expected: membership === 'ended' ? 401 : answer,
      })),
    ),
  )
}

function board(row: string): Record<string, string> {
  const [visibility, caller] = row.split(' ')
  return row === '' || row === 'no board' ? {} : { 'board.visibility': visibility!, 'board.caller': caller! }
}

// What a column of each axis means, in the words of the vocabulary.
function targets(across: string | undefined, column: string): Record<string, string>[] {
  const words = column.split(' ')
  const who = (word: string | undefined) => (word === 'own' ? 'caller' : 'other')
  if (across === 'comment') return [{ 'comment.author': who(column) }]
  if (across === 'label') return [{ 'label.board': column }]
  if (across === 'user') return [{ 'user.membership': words[0]!, 'user.board': words[1]! }]
  if (across === 'file') return [{ 'file.visibility': words[0]!, 'file.owner': who(words[1]) }]
  if (across !== 'cover') return [{}]
  if (words[0] === 'set') return [{ 'cover.state': 'set', 'file.visibility': words[1]!, 'file.owner': who(words[2]) }]
  return axes['file']!.map((file) => ({
    'cover.state': 'none',
    'file.visibility': file.split(' ')[0]!,
    'file.owner': who(file.split(' ')[1]),
  }))
}
