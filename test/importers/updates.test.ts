import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { importForeignBoard, type ImportOptions } from '../../src/importers/import.ts'
import { HOUR } from '../../src/model/time.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'
import { Service, type Person } from '../support/service.ts'
import { viewOf } from './board-view.ts'

const url = (number: number) => `https://github.com/acme/garden/issues/${number}`
const comment = (body: string) => ({ author: { login: 'octo' }, body, createdAt: '2026-10-01T00:00:00Z' })
const said = (body: string) => ['Olivia Stone', `octo (@octo), 2026-10-01 00:00 UTC:\n\n${body}`]
const issue = (number: number, members: object = {}) => ({ number, title: `Issue ${number}`, state: 'OPEN', url: url(number), ...members })
const PLAIN = { description: '', due_at: null, completed: false, archived: false, labels: [], assignees: [], subtasks: [], comments: [] }

describe.each(drivers)('an import into a board on $name', (driver) => {
  let service: Service
  let olivia: Person
  let mallory: Person
  let options: Omit<ImportOptions, 'into'>
  beforeEach(async () => {
    service = await Service.start(driver)
    const workspace = await service.workspace()
    olivia = await service.person(workspace, 'owner', 'Olivia Stone')
    mallory = await service.person(workspace, 'member', 'Mallory')
    options = { from: 'github', workspace, user: olivia.id, members: [], dryRun: false }
  })
  afterEach(() => service.stop())
  const importIssues = (issues: object[], changes: Partial<ImportOptions> = {}) => importFile(JSON.stringify(issues), changes)
  const importFile = (text: string, changes: Partial<ImportOptions> = {}) =>
    importForeignBoard(text, { ...options, ...changes }, (name, input, { lines }) =>
      runCommand(service.adminDeps, name, input, { progress: () => undefined, write: async () => undefined, lines }),
    )
  const send = async (method: string, path: string, body?: object) => (await service.send(olivia.write, method, path, body)).body.data
  const cardsOf = async (board: string) => (await send('GET', `/boards/${board}/cards`)) as any[]

  test('updates what the file has, adds what is new, and keeps what people did here', async () => {
    const first = [
      issue(1, { body: `After ${url(2)}`, labels: [{ name: 'bug', color: 'd73a4a' }], comments: [comment('One'), comment('Two')] }),
      issue(2, { state: 'CLOSED' }),
    ]
    const { board_id } = await importIssues(first)
    const into = board_id!
    service.now += HOUR
    const one = (await cardsOf(into)).find(({ title }) => title === 'Issue 1')
    const [doing, mine] = [
      await send('POST', `/boards/${into}/columns`, { name: 'Doing' }),
      await send('POST', `/boards/${into}/labels`, { name: 'mine', color: '#000000' }),
    ]
    await send('POST', `/cards/${one.id}/move`, { column_id: doing.id })
    await send('PUT', `/cards/${one.id}/labels/${mine.id}`)
    await send('PATCH', `/cards/${one.id}`, { title: 'Changed here' })
    await send('POST', `/cards/${one.id}/subtasks`, { title: 'Step' })
    await send('POST', `/cards/${one.id}/comments`, { body: 'Said here' })

    service.now += HOUR
    const second = [
      issue(1, {
        ...first[0],
        title: 'Changed there',
        labels: [
          { name: 'bug', color: 'd73a4a' },
          { name: 'new', color: '0e8a16' },
        ],
        comments: [comment('One'), comment('Two'), comment(`Three, see ${url(3)}`)],
      }),
      issue(2, { state: 'OPEN' }),
      issue(3, { state: 'CLOSED', stateReason: 'NOT_PLANNED', labels: [{ name: 'new', color: '0e8a16' }] }),
    ]
    const planned = await importIssues(second, { into, dryRun: true })
    const result = await importIssues(second, { into })
    expect(planned).toEqual({ ...result, board_id: null, dry_run: true })
    expect(result).toMatchObject({
      board_id: into,
      name: 'acme/garden',
      visibility: 'private',
      columns: 0,
      cards: 1,
      updated: 2,
      labels: 1,
      comments: 1,
    })
    const [two, three] = ['Issue 2', 'Issue 3'].map((title) => async () => (await cardsOf(into)).find((card) => card.title === title).id)
    expect(await viewOf(service, olivia, into)).toMatchObject({
      description: '',
      columns: [
        { name: 'Open', cards: [] },
        {
          name: 'Closed',
          cards: [
            { ...PLAIN, title: 'Issue 2' },
            { ...PLAIN, title: 'Issue 3', completed: true, labels: ['new'] },
          ],
        },
        {
          name: 'Doing',
          cards: [
            {
              ...PLAIN,
              title: 'Changed there',
              description: `After ${await two!()}`,
              labels: ['bug', 'mine', 'new'],
              subtasks: [['Step', false]],
              comments: [said('One'), said('Two'), ['Olivia Stone', 'Said here'], said(`Three, see ${await three!()}`)],
            },
          ],
        },
      ],
    })
    expect((await findDamage(service.adminDeps)).findings).toEqual([])
  })

  test('changes nothing if the file has not changed', async () => {
    const issues = [
      issue(1, {
        body: `See ${url(2)}`,
        labels: [{ name: 'bug' }],
        assignees: [{ login: 'Mallory' }],
        comments: [comment('Same'), comment('Same')],
      }),
      issue(2, { state: 'CLOSED' }),
    ]
    const { board_id } = await importIssues(issues)
    const before = await cardsOf(board_id!)
    const result = await importIssues(issues, { into: board_id! })
    expect(result).toMatchObject({ columns: 0, cards: 0, labels: 0, comments: 0, updated: 2 })
    expect(await cardsOf(board_id!)).toEqual(before)
  })

  test.each<[from: string, text: string]>([
    ['csv', 'title,ref\nSow,1\n'],
    ['github', JSON.stringify([{ number: 1, title: 'Sow', url: url(1) }])],
  ])('keeps what the file has no place for: %s', async (from, text) => {
    const { board_id } = await importFile(text, { from })
    const into = board_id!
    const [{ id }] = (await cardsOf(into)) as [any]
    await send('PATCH', `/cards/${id}`, { description: 'Mine', due_at: '2027-01-01T00:00:00.000Z' })
    await send('PUT', `/cards/${id}/completion`, { completed: true })
    const [before] = await cardsOf(into)
    expect(before).toMatchObject({ description: 'Mine', outcome: 'succeeded' })
    await importFile(text, { from, into })
    expect(await cardsOf(into)).toEqual([before])
  })

  test('takes away what the file has a place for, and nothing in it', async () => {
    const text = 'title,ref,description,due,completed\nSow,1,,,\n'
    const { board_id } = await importFile(text, { from: 'csv' })
    const into = board_id!
    const before = await cardsOf(into)
    await send('PATCH', `/cards/${before[0].id}`, { description: 'Mine', due_at: '2027-01-01T00:00:00.000Z' })
    await send('PUT', `/cards/${before[0].id}/completion`, { completed: true })
    await importFile(text, { from: 'csv', into })
    expect(await cardsOf(into)).toMatchObject([{ description: '', due_at: null, outcome: null }])
  })

  test('leaves the cards of a column completed that completes them', async () => {
    const table = { from: 'csv', done: ['Done'] }
    const { board_id } = await importFile('title,column,ref,completed\nSow,Done,1,\n', table)
    const before = await cardsOf(board_id!)
    expect(before).toMatchObject([{ outcome: 'succeeded' }])
    await importFile('title,column,ref,completed\nSow,Done,1,\nWater,Done,2,\n', { ...table, into: board_id! })
    expect(await cardsOf(board_id!)).toMatchObject([before[0], { title: 'Water', outcome: 'succeeded' }])
  })

  test('leaves out labels beyond those that a card can have, and takes labels of one name for one', async () => {
    const many = Array.from({ length: 29 }, (_label, i) => ({ name: `label ${i}` }))
    const { board_id } = await importIssues([issue(1, { labels: many }), issue(2, { labels: [{ name: 'same' }] })])
    const into = board_id!
    const result = await importIssues([issue(1, { labels: [{ name: 'one more' }, { name: 'too many' }] })], { into })
    expect(result.not_carried).toMatchObject([{ kind: 'labels_left_out', count: 1, examples: ['Issue 1'] }])
    await importIssues([issue(3, { labels: [{ name: 'same' }, { name: ' same' }] })], { into })
    expect((await cardsOf(into)).map(({ label_ids }) => label_ids.length)).toEqual([30, 1, 1])
  })

  test('is refused for a board that the user does not see', async () => {
    const { board_id } = await importIssues([issue(1)])
    for (const changes of [{ user: mallory.id }, { into: 'brd_00000000000000000000' }, { into: '../members' }])
      await expect(importIssues([issue(1)], { into: board_id!, ...changes })).rejects.toMatchObject({
        name: 'AdminError',
        code: 'not_found',
      })
  })
})
