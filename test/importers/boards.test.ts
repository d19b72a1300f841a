import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { runCommand } from '../../src/admin/commands.ts'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { importForeignBoard, type ImportOptions, type RunCommand } from '../../src/importers/import.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'
import { Service, type Person } from '../support/service.ts'
import { viewOf } from './board-view.ts'

const fixture = (name: string) => readFile(new URL(`../../fixtures/${name}-board.json`, import.meta.url), 'utf8')
const runOn =
  (deps: AdminDeps): RunCommand =>
  (name, input, { lines }) =>
    runCommand(deps, name, input, { progress: () => undefined, write: async () => undefined, lines })
const countsOf = (lines: readonly { kind: string; count: number }[]) => Object.fromEntries(lines.map(({ kind, count }) => [kind, count]))

/** What the boards are after their import, and the numbers of what is not carried. */
const { plain, ...imported } = parse(await readFile(new URL('../../fixtures/imported-boards.yaml', import.meta.url), 'utf8'))

describe.each(drivers)('boards of other programs on $name', (driver) => {
  let service: Service
  let olivia: Person
  let options: Omit<ImportOptions, 'from'>
  beforeEach(async () => {
    service = await Service.start(driver)
    const workspace = await service.workspace()
    olivia = await service.person(workspace, 'owner', 'Olivia Stone')
    await service.person(workspace, 'member', 'Robert Taylor')
    options = { workspace, user: olivia.id, members: [], dryRun: false }
  })
  afterEach(() => service.stop())

  const importFixture = async (from: string, changes: Partial<ImportOptions> = {}) =>
    importForeignBoard(await fixture(from), { ...options, from, ...changes }, runOn(service.adminDeps))

  test.each<[from: string, changes: Partial<ImportOptions>]>([
    ['trello', { members: ['@bobby=Robert Taylor'] }],
    ['planka', { visibility: 'workspace' }],
  ])('a board of %s has the supported content of the file, and the report names the rest', async (from, changes) => {
    const { board, not_carried } = imported[from]
    for (const column of board.columns) column.cards = column.cards.map((card: object) => ({ ...plain, ...card }))
    const result = await importFixture(from, changes)
    expect(await viewOf(service, olivia, result.board_id!)).toEqual(board)
    expect(countsOf(result.not_carried)).toEqual(not_carried)
    const cards = board.columns.flatMap((column: any) => column.cards)
    expect(result).toMatchObject({
      dry_run: false,
      name: board.name,
      visibility: board.visibility,
      columns: board.columns.length,
      cards: cards.length,
      labels: board.labels.length,
      subtasks: cards.flatMap(({ subtasks }: any) => subtasks).length,
      comments: cards.flatMap(({ comments }: any) => comments).length,
      // The creator needs no entry.
      board_members: board.members.length - 1,
    })
    expect((await findDamage(service.adminDeps)).findings).toEqual([])
  })

  test('a dry run reports the same, and writes nothing', async () => {
    const before = await service.recordKeys(olivia.workspaceId)
    const planned = await importFixture('trello', { dryRun: true })
    expect(await service.recordKeys(olivia.workspaceId)).toEqual(before)
    const { board_id: _id, ...made } = await importFixture('trello')
    expect(planned).toEqual({ ...made, board_id: null, dry_run: true })
  })
})
