import { AdminError } from '../admin/deps.ts'
import { MemberMatcher, nameOf, type Member } from './members.ts'
import { PlannedImport, type ImportResult } from './planned-import.ts'
import { readBoard, type ImportChoices } from './read-board.ts'
import { ImportReport } from './report.ts'

/** A file of another program, and what its import needs to know. Plain data: another thread reads it. */
export interface BoardFile {
  readonly bytes: Uint8Array
  readonly choices: ImportChoices
  /** the id of the user who imports it */
  readonly userId: string
  /** the members of the workspace */
  readonly users: readonly Member[]
}

/** What a file has. */
export interface BoardReading {
  /** as of a dry run */
  readonly result: ImportResult
  /** the lines of `board-lines.ts`, which import it */
  readonly lines: string
  readonly people: readonly ReadPerson[]
  readonly columns: readonly { readonly name: string; readonly completes: boolean }[]
}

/** Somebody whom a file names. */
export interface ReadPerson {
  readonly id: string
  readonly name: string
  /** the user of the workspace whose work is theirs; null: nobody */
  readonly userId: string | null
}

/** Why a file cannot be imported. */
export interface RefusedFile {
  readonly refused: string
}

/** Reads a file of another program, and plans its import as a new board. */
export function readBoardFile({ bytes, choices, userId, users }: BoardFile): BoardReading | RefusedFile {
  try {
    const report = new ImportReport()
    const board = readBoard(textOf(bytes), choices, report)
    const members = new MemberMatcher(board.people, users, choices.members, report)
    const planned = new PlannedImport(board, { userId, visibility: choices.visibility, members, files: new Map() }, report)
    const lines = Array.from(planned.lines(), (line) => JSON.stringify(line)).join('\n')
    const assigned = new Set(board.cards.flatMap(({ assignees }) => assignees))
    const people = board.people.filter(({ id, onBoard }) => onBoard || assigned.has(id))
    return {
      result: planned.resultOf(),
      lines,
      people: people.map((person) => ({ id: person.id, name: nameOf(person), userId: members.find(person.id) ?? null })),
      columns: board.columns.map(({ name, completes }) => ({ name, completes })),
    }
  } catch (error) {
    if (error instanceof AdminError) return { refused: error.message }
    throw error
  }
}

/** @throws {AdminError} `invalid` if it is not UTF-8: what replaces other bytes would be taken for the text */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AdminError('invalid', 'the file has bytes that are not UTF-8; save it as UTF-8')
  }
}
