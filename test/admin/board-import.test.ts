import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { importBoard } from '../../src/admin/board-import.ts'
import type { BoardHead, BoardOperation } from '../../src/admin/board-lines.ts'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { requestsOfOperators } from '../../src/http/member-requests.ts'
import { limits } from '../../src/model/limits.ts'
import { HOUR } from '../../src/model/time.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { TestBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { failFrom } from '../support/failing-storage.ts'
import { findDamage } from '../support/findings.ts'
import { memory } from '../support/memory.ts'
import { sample, stride } from '../support/sample.ts'
import { Service, type Person } from '../support/service.ts'

const OF_BOARDS = /^(board|board_member|column|card|label|subtask|comment|order|tombstone):/
const DESCRIPTION = 'What it is for'
const many = <T>(length: number, itemOf: (i: number) => T): T[] => Array.from({ length }, (_item, i) => itemOf(i))

/** The lines of a board with these operations. */
function linesWith(operations: readonly BoardOperation[], changes: Partial<BoardHead> = {}): string[] {
  const board = { name: 'Imported', description: DESCRIPTION, visibility: 'workspace', members: [], ...changes }
  return [{ board }, ...operations].map((line) => JSON.stringify(line))
}

/** A label, a column, and cards with a subtask and a comment each. */
function operationsOf(cards: number, changes: object = {}): BoardOperation[] {
  const operations: BoardOperation[] = [
    { operation: 'labels.create', params: {}, body: { name: 'A', color: '#000000' } },
    { operation: 'columns.create', params: {}, body: { name: 'To do' } },
  ]
  for (let i = 0; i < cards; i++) {
    const card_id = `$${operations.length}`
    operations.push(
      { operation: 'cards.create', params: {}, body: { column_id: '$1', title: `Card ${i}`, label_ids: ['$0'], ...changes } },
      { operation: 'subtasks.create', params: { card_id }, body: { title: 'Step', completed: true } },
      { operation: 'comments.create', params: { card_id }, body: { body: 'Hello' } },
    )
  }
  return operations
}
const linesOf = (cards: number, changes?: object) => linesWith(operationsOf(cards, changes))

describe.each(drivers)('the import of a board on $name', (driver) => {
  let service: Service
  let person: Person
  let before: string[]
  let input: { workspace: string; user: string }
  beforeEach(async () => {
    service = await Service.start(driver)
    person = await service.person(await service.workspace(), 'owner')
    input = { workspace: person.workspaceId, user: person.id }
    before = await remaining()
  })
  afterEach(() => service.stop())

  /** All records of boards and tombstones, besides the feeds and their tombstones, after garbage collection. */
  const remaining = async () => {
    service.now += HOUR
    await collectGarbage(service.adminDeps, person.workspaceId)
    return (await service.keysBesidesFeeds(person.workspaceId)).filter((key) => OF_BOARDS.test(key)).toSorted()
  }
  const boards = async () => (await service.send(person.read, 'GET', '/boards')).body.data
  const importLines = (lines: readonly string[]) => importBoard(service.adminDeps, input, createIo(lines))

  test('after an end at any storage operation, nothing remains, or the error names the board and its description says that it is unfinished', async () => {
    const label = (i: number) => ({ operation: 'labels.create', params: {}, body: { name: `Label ${i}`, color: '#000000' } })
    const lines = linesWith(many(105, label))
    const found = { whole: 0, nothing: 0, unfinished: 0 }
    for (let at = 1; ; at += driver.name === 'redis' ? 3 : stride(3)) {
      const { deps, reached } = failFrom(service.adminDeps, at)
      const { sendAs } = requestsOfOperators(() => ({ ...service.app.services, store: deps.store }))
      const error = await importBoard({ ...deps, sendAs }, input, createIo(lines)).catch((reason: unknown) => reason)
      service.now += HOUR
      const [board] = await boards()
      expect(error instanceof Error).toBe(reached())
      if (board === undefined) {
        found.nothing++
        expect(await remaining()).toEqual(before)
        continue
      }
      if (!(error instanceof Error)) {
        found.whole++
        expect(board.description).toBe(DESCRIPTION)
        break
      }
      // The creation of the board was committed, and could not be deleted.
      if (board.description !== DESCRIPTION) {
        found.unfinished++
        expect({ description: board.description, message: error.message }).toEqual({
          description: expect.stringContaining('being imported'),
          message: expect.stringContaining(board.id),
        })
      }
      await service.send(person.admin, 'DELETE', `/boards/${board.id}`)
    }
    expect(found.whole).toBe(1)
    expect(found.nothing).toBeGreaterThan(0)
    expect(found.unfinished).toBeGreaterThan(5)
  })

  test.each<[string, (lines: string[]) => string[], RegExp]>([
    ['a line that is no JSON', (lines) => lines.with(150, '{'), /line 151 is not a valid line/],
    ['a line of another kind', (lines) => lines.with(150, '{"file":{}}'), /line 151 is not a valid line/],
    ['an unknown column', (lines) => lines.map((line, i) => (i > 150 ? line.replace('"$1"', '"$9999"') : line)), /column_id/],
    ['an operation on something else', (lines) => lines.with(150, '{"operation":"boards.delete","params":{}}'), /operation/],
    ['no board', (lines) => lines.slice(1), /no board/],
    ['two boards', (lines) => lines.with(150, lines[0]!), /more than one board/],
  ])('input with %s fails, and leaves nothing', async (_case, change, message) => {
    const error = await importLines(change(linesOf(60))).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ name: 'AdminError', message: expect.stringMatching(message) as string })
    expect({ remaining: await remaining(), boards: await boards() }).toEqual({ remaining: before, boards: [] })
  })

  test('an import whose assignee leaves meanwhile fails, and leaves nothing', async () => {
    const other = await service.person(person.workspaceId)
    before = await remaining()
    async function* interrupted() {
      for (const [i, line] of linesOf(60, { assignee_ids: [other.id] }).entries()) {
        if (i === 150) await endMembership(service.deps, person.workspaceId, other.id)
        yield line
      }
    }
    const importing = importBoard(service.adminDeps, input, { ...createIo(), lines: interrupted() })
    await expect(importing).rejects.toMatchObject({ name: 'AdminError', code: 'not_found' })
    expect({ remaining: (await remaining()).filter((key) => !key.startsWith('tombstone:')), boards: await boards() }).toEqual({
      remaining: before,
      boards: [],
    })
  })

  test('a private board is seen by its members alone, and never by others', async () => {
    const [ann, bob] = [await service.person(person.workspaceId), await service.person(person.workspaceId)]
    const seen = new Set<string>()
    async function* watched() {
      for (const line of linesWith(operationsOf(100), { visibility: 'private', members: [ann.id] })) {
        for (const { id, name } of (await service.send(bob.read, 'GET', '/boards')).body.data) seen.add(`${id} ${name}`)
        yield line
      }
    }
    const { board_id } = await importBoard(service.adminDeps, input, { ...createIo(), lines: watched() })
    expect([...seen]).toEqual([])
    expect((await service.send(ann.read, 'GET', `/boards/${board_id}`)).status).toBe(200)
    expect((await findDamage(service.adminDeps)).findings).toEqual([])
  })

  test('a user of another workspace, and a workspace that does not exist, are refused', async () => {
    const other = await service.person(await service.workspace('Globex'))
    for (const changes of [{ user: other.id }, { workspace: 'wsp_00000000000000000000' }])
      await expect(importBoard(service.adminDeps, { ...input, ...changes }, createIo(linesOf(1)))).rejects.toMatchObject({
        code: 'not_found',
      })
  })
})

// What does not depend on the storage.
describe.each(drivers.filter((driver) => driver === memory))('an import of a board', (driver) => {
  let service: Service
  let person: Person
  const start = async (options = {}) => {
    service = await Service.start(driver, options)
    person = await service.person(await service.workspace(), 'owner')
  }
  const importLines = (lines: readonly string[]) =>
    importBoard(service.adminDeps, { workspace: person.workspaceId, user: person.id }, createIo(lines))
  afterEach(() => service.stop())

  test('of 500 cards is made in batches, which no rate limit refuses, and lists by time keep their order', async () => {
    await start({ rateLimits: { quotas: { token: 30, workspace: 30, address: 30 } } })
    const operations = operationsOf(500)
    // Comments of one card that are in several batches.
    operations.push(...many(250, (i) => ({ operation: 'comments.create', params: { card_id: '$2' }, body: { body: `$${i}` } })))
    service.records.length = 0
    const { board_id } = await importLines(linesWith(operations))
    const batches = service.records.filter(({ operation }) => operation === 'boards.batch')
    expect(batches.map(({ batch }) => batch!.length)).toEqual(
      many(Math.ceil(operations.length / 100), (i) => Math.min(100, operations.length - 100 * i)),
    )
    expect(service.records.every(({ surface, userId }) => surface === 'operator' && userId === person.id)).toBe(true)
    const cards = (await service.send(person.read, 'GET', `/boards/${board_id}/cards?limit=100`)).body.data
    expect(cards.map(({ title }: any) => title)).toEqual(many(100, (i) => `Card ${i}`))
    const comments = await TestBoard.all(service, person.read, `/cards/${cards[0].id}/comments`, 100)
    expect(comments.map(({ body }) => body)).toEqual(['Hello', ...many(250, (i) => `$${i}`)])
  })

  test('can have cards that are as large as a card can be', async () => {
    await start()
    const emoji = (count: number) => '🌱'.repeat(count)
    const operations: BoardOperation[] = [{ operation: 'columns.create', params: {}, body: { name: 'To do' } }]
    for (const title of sample(['A', 'B', 'C', 'D'], 1)) {
      const params = { card_id: `$${operations.length}` }
      operations.push(
        { operation: 'cards.create', params: {}, body: { column_id: '$0', title, description: emoji(limits.cardDescription) } },
        ...many(limits.subtasksPerCard, () => ({ operation: 'subtasks.create', params, body: { title: emoji(limits.subtaskTitle) } })),
        ...many(20, () => ({ operation: 'comments.create', params, body: { body: emoji(limits.commentBody) } })),
        { operation: 'cards.complete', params, body: { completed: true } },
        { operation: 'cards.archive', params },
      )
    }
    const { board_id } = await importLines(linesWith(operations))
    const { data } = (await service.send(person.read, 'GET', `/boards/${board_id}/cards?archived=true&include=counts`)).body
    expect(data.map(({ counts }: any) => [counts.subtasks, counts.comments])).toEqual(many(data.length, () => [200, 20]))
    expect(data.length).toBeGreaterThan(0)
  })

  test('can have texts with ids of what was created before, in the same batch or in an earlier one', async () => {
    await start()
    const comment = (card: string): BoardOperation => ({
      operation: 'comments.create',
      params: { card_id: card },
      texts: { body: ['After ', { id: '$2' }, ', before ', { id: '$305' }] },
    })
    const operations = operationsOf(100)
    operations.push({ operation: 'columns.create', params: {}, body: { name: 'Later' } })
    operations.push({ operation: 'labels.create', params: {}, body: { name: 'B', color: '#000000' } })
    const last = { operation: 'cards.create', params: {}, body: { column_id: '$302', title: 'Last' } }
    const { board_id } = await importLines(linesWith([...operations, { ...last }, last, comment('$305'), comment('$2')]))
    const cards = await TestBoard.all(service, person.read, `/boards/${board_id}/cards`, 100)
    const [first, final] = [cards[0], cards.at(-1)]
    for (const { id } of [first, final]) {
      const { data } = (await service.send(person.read, 'GET', `/cards/${id}/comments`)).body
      expect(data.at(-1).body).toBe(`After ${first!.id}, before ${final!.id}`)
    }
  })

  test('is in the audit trail and in the feed, as done by the member', async () => {
    const { service: audited, recorder } = await startWithAudit(driver)
    service = audited
    person = await service.person(await service.workspace(), 'owner')
    let board_id = ''
    const entries = await entriesOf(service, recorder, person.workspaceId, async () => ({ board_id } = await importLines(linesOf(50))))
    expect(entries.map(({ operation }) => operation)).toEqual(['boards.create', 'boards.batch', 'boards.batch', 'boards.update'])
    const who = { user_id: person.id, token_id: null, token_name: null, outcome: 'done', agent: 'lanekeeper, by its operator' }
    for (const entry of entries) expect(entry).toMatchObject(who)
    expect(entries[0]!.ids).toEqual([board_id])
    const { data } = (await service.send(person.read, 'GET', `/boards/${board_id}/changes?limit=100`)).body
    expect(new Set(data.map(({ actor_id, token_id }: any) => `${actor_id} ${token_id}`))).toEqual(new Set([`${person.id} null`]))
  })
})
