import { boardLine, type BoardLine } from '../../src/admin/board-lines.ts'
import { importForeignBoard, type ImportOptions } from '../../src/importers/import.ts'
import type { ImportResult } from '../../src/importers/planned-import.ts'

export const USER = 'usr_00000000000000000000'
/** The members of the workspace. */
export const members = [
  { user_id: USER, display_name: 'Olivia Stone' },
  { user_id: 'usr_11111111111111111111', display_name: 'Robert Taylor' },
  { user_id: 'usr_22222222222222222222', display_name: 'Twin' },
  { user_id: 'usr_33333333333333333333', display_name: 'twin' },
]

/** Imports a text without a storage. @returns the lines that the storage would get */
export async function importText(
  from: string,
  text: string,
  options: Partial<ImportOptions> = {},
): Promise<{ result: ImportResult; lines: BoardLine[] }> {
  const lines: BoardLine[] = []
  const run = async (name: string, _input: object, io: { lines: AsyncIterable<string> }) => {
    if (name === 'member.list') return members
    if (name === 'import.limits') return { upload_bytes: 25 * 1024 * 1024 }
    for await (const line of io.lines) lines.push(boardLine.parse(JSON.parse(line)))
    return { board_id: 'brd_00000000000000000000' }
  }
  const all = { from, workspace: 'wsp_00000000000000000000', user: USER, members: [], dryRun: false, ...options }
  return { result: await importForeignBoard(text, all, run), lines }
}
