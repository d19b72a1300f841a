import { AdminError } from '../admin/deps.ts'
import type { Board } from '../model/board.ts'
import { readCsv } from './csv.ts'
import type { ForeignBoard, ReaderOptions } from './foreign-board.ts'
import { readGitHub } from './github.ts'
import { readPlanka } from './planka.ts'
import type { ImportReport } from './report.ts'
import { readTrello } from './trello.ts'

const readers = { trello: readTrello, planka: readPlanka, csv: readCsv, github: readGitHub } as const
/** Where boards can be imported from. */
const programs = Object.keys(readers) as readonly (keyof typeof readers)[]

/** How a file of another program is read. */
export interface ImportChoices extends ReaderOptions {
  /** a program of {@link programs} */
  readonly from: string
  /** pairs of a person of the file and a user of the workspace */
  readonly members: readonly string[]
  readonly visibility?: Board['visibility'] | undefined
  /** the names of columns that complete their cards, as well */
  readonly done?: readonly string[] | undefined
}

/**
 * Reads a file of another program.
 * @throws {AdminError} `invalid`, with the path of the mistake in the file
 */
export function readBoard(text: string, choices: ImportChoices, report: ImportReport): ForeignBoard {
  const { from, map = [], fileName, done = [] } = choices
  if (!isProgram(from)) throw new AdminError('invalid', `--from: must be one of ${programs.join(', ')}`)
  if (from !== 'csv' && map.length > 0) throw new AdminError('invalid', '--map needs --from csv')
  const board = readers[from](text, report, { map, fileName })
  const columns = withCompleting(board.columns, done)
  const completing = new Set(columns.flatMap(({ id, completes }) => (completes ? id : [])))
  return { ...board, columns, cards: board.cards.map((card) => (completing.has(card.column) ? { ...card, completed: true } : card)) }
}

function isProgram(name: string): name is keyof typeof readers {
  return Object.hasOwn(readers, name)
}

/**
 * Makes columns complete their cards.
 * @throws {AdminError} `invalid` if there is no column of a name
 */
function withCompleting(columns: ForeignBoard['columns'], names: readonly string[]): ForeignBoard['columns'] {
  const fold = (name: string) => name.normalize('NFC').trim().toLowerCase()
  const done = new Set(names.map(fold))
  const missing = names.find((name) => !columns.some((column) => fold(column.name) === fold(name)))
  if (missing !== undefined) {
    const known = columns.map(({ name }) => JSON.stringify(name)).join(', ')
    throw new AdminError('invalid', `--done: there is no column "${missing}"; there are ${known}`)
  }
  return columns.map((column) => (done.has(fold(column.name)) ? { ...column, completes: true } : column))
}
