import { readFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { importForeignBoard, type ImportOptions, type RunCommand } from '../../src/importers/import.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'
import { Service, type Person } from '../support/service.ts'
import { viewOf } from './board-view.ts'

const NOW = '2026-11-20T12:00:00.000Z'
const fixture = (name: string) => readFile(new URL(`../../fixtures/${name}-board.json`, import.meta.url), 'utf8')
const runOn =
  (deps: AdminDeps): RunCommand =>
  (name, input, { lines }) =>
    runCommand(deps, name, input, { progress: () => undefined, write: async () => undefined, lines })
/** A card with no more than a title and times. */
const plain = {
  due_at: null,
  completed: false,
  archived: false,
  labels: [],
  assignees: [],
  subtasks: [],
  comments: [],
}
const countsOf = (lines: readonly { kind: string; count: number }[]) => Object.fromEntries(lines.map(({ kind, count }) => [kind, count]))

const trelloExpected = {
  name: 'Launch <b>2027</b>',
  description: 'What must be done before the launch.',
  visibility: 'private',
  creator: 'Olivia Stone',
  members: ['Olivia Stone', 'Robert Taylor'],
  labels: [
    ['Urgent', '#eb5a46'],
    ['green_dark', '#448437'],
    ['Later', '#6b778c'],
    ['Odd', '#6b778c'],
  ],
  columns: [
    {
      name: 'Old ideas',
      archived: true,
      cards: [{ ...plain, title: 'In an archived list', description: 'Created 2026-11-20 12:00 UTC, last changed 2026-11-20 12:00 UTC.' }],
    },
    {
      name: 'To do',
      archived: false,
      cards: [
        {
          title: 'Write <script>alert(1)</script> & tell \u202eesrever',
          description:
            'Line one\r\n\tindented,  and a lone \ufffd surrogate, 🏳️‍🌈\n\nAttachments:\n- [plan (v2) \\[draft\\].pdf](https://trello.com/1/cards/x/plan%20%28v2%29.pdf)\n\nCreated 2023-10-31 12:16 UTC, completed 2026-11-03 10:00 UTC, last changed 2026-11-03 10:00 UTC.',
          due_at: '2026-12-24T17:00:00.000Z',
          completed: true,
          archived: false,
          labels: ['Urgent', 'Later'],
          assignees: ['Olivia Stone', 'Robert Taylor'],
          subtasks: [
            ['Web: Draft', true],
            ['Web: Publish', false],
            ['Print: Posters', false],
          ],
          comments: [
            ['Olivia Stone', 'Robert T. (@bobby), 2026-11-02 11:30 UTC:\n\nI start today.'],
            ['Olivia Stone', 'Gone Person (@gone), 2026-11-03 10:00 UTC:\n\nLooks good.'],
          ],
        },
        {
          ...plain,
          title: 'Second by position',
          description: 'Created 2023-10-31 12:16 UTC, last changed 2026-11-02 09:00 UTC.',
          labels: ['green_dark'],
          comments: [['Olivia Stone', 'an unknown person, 2026-11-01 08:00 UTC:\n\nWho was it?']],
        },
      ],
    },
    {
      name: 'Doing',
      archived: false,
      cards: [
        {
          ...plain,
          title: 'Archived here',
          archived: true,
          description: 'Created 2023-10-31 12:16 UTC, archived 2026-11-04 00:00 UTC, last changed 2026-11-04 00:00 UTC.',
        },
      ],
    },
    { name: 'Untitled', archived: false, cards: [] },
  ],
}
const trelloLosses = {
  custom_fields: 2,
  start_dates: 1,
  covers: 1,
  votes: 2,
  subtask_details: 1,
  comments_missing: 2,
  comments_unplaced: 1,
  checklists_unplaced: 1,
  attachments_without_link: 1,
  labels_unknown: 1,
  label_colors_unknown: 1,
  members_unmatched: 1,
  assignments_unmatched: 2,
  comments_by_others: 3,
  texts_blank: 1,
  characters_replaced: 3,
}

const plankaExpected = {
  name: 'Garden',
  description: '',
  visibility: 'workspace',
  creator: 'Olivia Stone',
  members: ['Olivia Stone'],
  labels: [
    ['Water', '#109dc0'],
    ['berry-red', '#e83855'],
    ['New', '#6b778c'],
  ],
  columns: [
    {
      name: 'Archive',
      archived: true,
      cards: [
        {
          ...plain,
          title: 'Old',
          archived: true,
          description: 'Created 2026-01-01 08:00 UTC, archived 2026-01-01 08:00 UTC, last changed 2026-01-01 08:00 UTC.',
        },
      ],
    },
    {
      name: 'Beds',
      archived: false,
      cards: [
        {
          ...plain,
          title: 'Sow peas',
          description: 'In rows.\n\nCreated 2026-10-01 08:00 UTC, last changed 2026-10-05 08:00 UTC.',
          due_at: '2026-11-30T00:00:00.000Z',
          labels: ['Water', 'berry-red'],
          assignees: ['Olivia Stone'],
          subtasks: [
            ['Soak', true],
            ['Cover', false],
          ],
          comments: [
            ['Olivia Stone', 'Olivia Stone (@olivia), 2026-10-02 07:00 UTC:\n\nWhich kind?'],
            ['Olivia Stone', 'Mallory, 2026-10-03 07:15 UTC:\n\nNot before April!'],
          ],
        },
        {
          ...plain,
          title: 'Weed',
          description:
            'Attachments:\n- [How to weed](https://example.org/weed)\n\nCreated 2026-10-01 08:00 UTC, last changed 2026-10-01 08:00 UTC.',
        },
      ],
    },
    {
      name: 'Done',
      archived: false,
      cards: [
        {
          ...plain,
          title: 'Dig',
          completed: true,
          description: 'Created 2026-09-01 08:00 UTC, completed 2026-09-02 08:00 UTC, last changed 2026-09-03 08:00 UTC.',
        },
      ],
    },
  ],
}
const plankaLosses = {
  custom_fields: 1,
  covers: 1,
  stopwatches: 1,
  subtask_details: 1,
  checklist_names: 1,
  card_types: 1,
  trash: 1,
  comments_missing: 3,
  attachments_without_link: 1,
  label_colors_unknown: 1,
  members_unmatched: 1,
  assignments_unmatched: 1,
  comments_by_others: 1,
}

describe.each(drivers)('boards of other programs on $name', (driver) => {
  let service: Service
  let olivia: Person
  let robert: Person
  let options: Omit<ImportOptions, 'from'>
  beforeEach(async () => {
    service = await Service.start(driver)
    const workspace = await service.workspace()
    olivia = await service.person(workspace, 'owner', 'Olivia Stone')
    robert = await service.person(workspace, 'member', 'Robert Taylor')
    options = { workspace, user: olivia.id, members: [], dryRun: false }
  })
  afterEach(() => service.stop())

  const importFixture = async (from: string, changes: Partial<ImportOptions> = {}) =>
    importForeignBoard(await fixture(from), { ...options, from, ...changes }, runOn(service.adminDeps), NOW)

  test.each([
    ['trello', { members: ['@bobby=Robert Taylor'] }, trelloExpected, trelloLosses],
    ['planka', { visibility: 'workspace' }, plankaExpected, plankaLosses],
  ] as const)('a board of %s has what the file has, and the report names the rest', async (from, changes, expected, losses) => {
    const result = await importFixture(from, changes)
    expect(await viewOf(service, olivia, result.board_id!)).toEqual(expected)
    expect(countsOf(result.not_carried)).toEqual(losses)
    const cards = expected.columns.flatMap((column): { subtasks: unknown[]; comments: unknown[] }[] => column.cards)
    expect(result).toMatchObject({
      dry_run: false,
      name: expected.name,
      visibility: expected.visibility,
      columns: expected.columns.length,
      cards: cards.length,
      labels: expected.labels.length,
      subtasks: cards.flatMap(({ subtasks }) => subtasks).length,
      comments: cards.flatMap(({ comments }) => comments).length,
      // The creator needs no entry.
      board_members: expected.members.length - 1,
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

  test('only members of a private board have access to it, and its assignees are among them', async () => {
    const { board_id } = await importFixture('trello')
    expect((await service.send(robert.read, 'GET', `/boards/${board_id}`)).status).toBe(404)
    const { board_id: shared } = await importFixture('trello', { members: ['bobby=Robert Taylor'] })
    expect((await service.send(robert.read, 'GET', `/boards/${shared}`)).status).toBe(200)
  })
})
