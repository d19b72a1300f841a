import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

// Expands the hand-written decisions (policies/decisions) to cells. This file shares no code with the engine, the
// operations table or the vocabulary.

/** An outcome as the decisions state it. */
export type HandWrittenResponse = 'ok' | 403 | 404

export interface HandWrittenOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly scope: 'read' | 'write' | 'admin'
  readonly row: string
  readonly permission: string
  /** the name of a decision, or field → name of a decision */
  readonly decision: string | Readonly<Record<string, string>>
  /** member of the body → what is decided about each of its items */
  readonly also: Readonly<Record<string, HandWrittenAddition>>
}

/** A decision about each item of a member of the body. */
export interface HandWrittenAddition {
  readonly row: string
  readonly permission: string
  readonly decision: string
}

export interface HandWrittenCell {
  readonly facts: Readonly<Record<string, string>>
  readonly field?: string | undefined
  readonly response: HandWrittenResponse | 401
  /** whether it stands for the other cells of its case: the representatives of a decision have all facts that its cases have */
  readonly representative?: boolean
}

type HandWrittenDecision =
  | HandWrittenResponse
  | ({ down: string; across?: string } & Record<string, HandWrittenResponse | HandWrittenResponse[]>)

const read = (name: string) => parse(readFileSync(new URL(`../../policies/decisions/${name}.yaml`, import.meta.url), 'utf8'))
const { axes: cases, decisions } = read('cases') as { axes: Record<string, object>; decisions: Record<string, HandWrittenDecision> }
// Only the names of the cases. Which facts they stand for is stated here once more.
const axes = Object.fromEntries(Object.entries(cases).map(([axis, ofAxis]) => [axis, Object.keys(ofAxis)]))

type Row = readonly [string, string, 'read', string, string, string, Readonly<Record<string, readonly [string, string, string]>>?]

export const handWrittenOperations: readonly HandWrittenOperation[] = Object.entries(
  (read('operations') as { operations: Record<string, Row> }).operations,
).map(([id, [method, path, scope, row, permission, decision, also = {}]]) => {
  const additions = Object.entries(also).map(([member, [ofRow, ofPermission, ofDecision]]) => [
    member,
    { row: ofRow, permission: ofPermission, decision: ofDecision },
  ])
  return { id, method, path, scope, row, permission, decision, also: Object.fromEntries(additions) }
})

/** What only the web app does: its permission has no scope. */
export const handWrittenWebActions: readonly Pick<HandWrittenOperation, 'id' | 'row' | 'permission' | 'decision'>[] = Object.entries(
  (read('operations') as { web_app: Record<string, readonly [string, string, string]> }).web_app,
).map(([id, [row, permission, decision]]) => ({ id, row, permission, decision }))

/** Every cell of an operation's decision, for every role, and for active and ended memberships. */
export function handWrittenCells({ decision }: Pick<HandWrittenOperation, 'decision'>): readonly HandWrittenCell[] {
  if (typeof decision === 'string') return decisionCells(decision)
  return Object.entries(decision).flatMap(([field, name]) => decisionCells(name).map((cell) => ({ ...cell, field })))
}

const cellsByDecision = new Map<string, readonly HandWrittenCell[]>()

function decisionCells(name: string): readonly HandWrittenCell[] {
  const cells = cellsByDecision.get(name) ?? expandDecision(name)
  cellsByDecision.set(name, cells)
  return cells
}

function expandDecision(name: string): HandWrittenCell[] {
  const decision = decisions[name]
  if (decision === undefined) throw new Error(`there is no decision "${name}"`)
  const { down, across, ...rows } = typeof decision === 'object' ? decision : { '': decision, down: undefined, across: undefined }
  const turns: Turns = { active: 0, ended: 0 }
  return Object.entries(rows).flatMap(([row, outcomes]) =>
    (across === undefined ? [''] : axes[across]!).flatMap((column, i) =>
      expand({ down, row }, across, column, across === undefined ? outcomes : (outcomes as HandWrittenResponse[])[i], turns),
    ),
  )
}

/** For each membership, how many cases have been expanded: the representatives take turns. */
type Turns = Record<'active' | 'ended', number>

function expand(
  { down, row }: { down: string | undefined; row: string },
  axis: string | undefined,
  column: string,
  outcome: HandWrittenResponse | readonly HandWrittenResponse[] | undefined,
  turns: Turns,
): HandWrittenCell[] {
  if (outcome !== 'ok' && outcome !== 403 && outcome !== 404)
    throw new Error(`the hand-written decisions have no response for "${row}", "${column}"`)
  const { role: named, 'webhook and role': ofWebhook } = { [axis ?? '']: column, [down ?? '']: row } as Partial<Record<string, string>>
  const ofRole = named ?? ofWebhook?.split(' ')[1]
  const roles = ofRole === undefined ? axes['role']! : [ofRole]
  return roles.flatMap((role) =>
    (['active', 'ended'] as const).flatMap((membership) => {
      const facts = caseFacts(down, row).flatMap((rowFacts) =>
        caseFacts(axis, column).map((columnFacts) => ({ ...rowFacts, ...columnFacts })),
      )
      const representative = turns[membership]++ % facts.length
      return facts.map((ofCase, i) => ({
        facts: { 'caller.membership': membership, 'caller.role': role, ...ofCase },
        response: membership === 'ended' ? (401 as const) : outcome,
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
  if (axis === 'webhook' || axis === 'webhook and role') return [{ 'webhook.creator': person(words[0]) }]
  if (axis === 'label') return [{ 'label.board': column }]
  if (axis === 'member') return [{ 'member.role': column }]
  if (axis === 'given') return [{ 'given.role': column }]
  if (axis === 'member and given') return [{ 'member.role': words[0]!, 'given.role': words[1]! }]
  if (axis === 'user') return [{ 'user.membership': words[0]!, 'user.board': words[1]! }]
  if (axis === 'file') return fileCase(column)
  if (axis !== 'cover') return [{}]
  const files = column === 'none' ? axes['file']!.flatMap(fileCase) : fileCase(words.slice(1).join(' '))
  return files.map((facts) => ({ 'cover.state': column === 'none' ? 'none' : 'set', ...facts }))
}
