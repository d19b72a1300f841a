import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { importBoard } from '../../src/admin/board-import.ts'
import type { BoardLine } from '../../src/admin/board-lines.ts'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { HOUR } from '../../src/model/time.ts'
import { decorateStore } from '../../src/store/decorate.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { failFrom } from '../support/failing-storage.ts'
import { findDamage } from '../support/findings.ts'
import { Service, type Person } from '../support/service.ts'

const OF_BOARDS = /^(board|board_member|column|card|label|subtask|comment|order|tombstone):/
const AT = '2026-11-01T00:00:00.000Z'
const card = { column: 0, description: '', due_at: null, completed_at: null, archived_at: null, labels: [], assignees: [] }
const times = { created_at: AT, updated_at: AT }

/** The lines of a board with cards, each with a subtask and a comment. */
function linesOf(cards: number, { id: author }: Pick<Person, 'id'>, changes: object = {}): string[] {
  const lines: BoardLine[] = [
    { board: { name: 'Imported', description: '', cover_color: null, visibility: 'workspace' } },
    { label: { name: 'A', color: '#000000' } },
    { column: { name: 'To do', archived: false } },
  ]
  for (let i = 0; i < cards; i++)
    lines.push(
      { card: { ...card, title: `Card ${i}`, labels: [0], subtasks: [{ title: 'Step', completed: true }], ...times, ...changes } },
      { comment: { author, body: 'Hello', created_at: AT } },
    )
  return [...lines, { end: lines.length }].map((line) => JSON.stringify(line))
}

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

  /** All records of boards and tombstones, besides the feeds and their tombstones. */
  const remaining = async () => (await service.keysBesidesFeeds(person.workspaceId)).filter((key) => OF_BOARDS.test(key)).toSorted()
  const feeds = async () => (await service.recordKeys(person.workspaceId)).filter((key) => key.startsWith('change:'))
  const boards = async () => (await service.send(person.read, 'GET', '/boards')).body.data
  /** Lines that call a function before one of them is read. */
  async function* interrupted(lines: readonly string[], at: number, interrupt: () => Promise<unknown>) {
    yield* lines.slice(0, at)
    await interrupt()
    yield* lines.slice(at)
  }
  const importWith = (lines: readonly string[], at = lines.length, interrupt: () => Promise<unknown> = async () => undefined) =>
    importBoard(service.adminDeps, input, { ...createIo(), lines: interrupted(lines, at, interrupt) })

  test('after an end at any storage operation, the board is there as a whole, or nothing of it remains', async () => {
    const lines = linesOf(70, person)
    let complete = 0
    let failed = 0
    for (let at = 1; ; at++) {
      const { deps, reached } = failFrom(service.adminDeps, at)
      const error = await importBoard(deps, input, createIo(lines)).catch((reason: unknown) => reason)
      const wasReached = reached()
      expect(error instanceof Error).toBe(wasReached)
      service.now += HOUR
      await collectGarbage(service.adminDeps, person.workspaceId)
      const [board] = await boards()
      if (board === undefined) {
        failed++
        expect([await remaining(), await feeds()]).toEqual([before, []])
        continue
      }
      complete++
      const { data } = (await service.send(person.read, 'GET', `/boards/${board.id}/cards?limit=100&include=counts`)).body
      expect(data.map(({ title, counts }: any) => [title, counts.subtasks, counts.comments])).toEqual(
        Array.from({ length: 70 }, (_item, i) => [`Card ${i}`, 1, 1]),
      )
      if (!wasReached) break
      await service.send(person.admin, 'DELETE', `/boards/${board.id}`)
      await collectGarbage(service.adminDeps, person.workspaceId)
    }
    expect([failed > 5, complete > 0]).toEqual([true, true])
  })

  test.each<[string, (lines: string[]) => string[], RegExp]>([
    ['a line that is no JSON', (lines) => lines.with(450, '{'), /line 451 is not a valid line/],
    ['a line of another kind', (lines) => lines.with(450, '{"file":{}}'), /line 451 is not a valid line/],
    ['a missing end', (lines) => lines.slice(0, -1), /incomplete/],
    ['a missing line', (lines) => lines.toSpliced(450, 1), /incomplete/],
    ['an unknown column', (lines) => lines.map((line, i) => (i > 450 ? line.replace('"column":0', '"column":1') : line)), /no column 1/],
    ['an unknown label', (lines) => lines.map((line, i) => (i > 450 ? line.replace('"labels":[0]', '"labels":[1]') : line)), /no label 1/],
    ['no board', (lines) => [...lines.slice(1, -1), JSON.stringify({ end: lines.length - 2 })], /no board/],
    ['a comment before its card', (lines) => [lines[0]!, lines.at(-2)!], /before the first card/],
  ])('input with %s fails, and leaves nothing', async (_case, change, message) => {
    await expect(importWith(change(linesOf(300, person)))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
    expect([await remaining(), await feeds(), await boards()]).toEqual([before, [], []])
  })

  test('before the last line nothing of the board can be found, and the storage is in order', async () => {
    const lines = linesOf(300, person)
    let found: unknown
    await importWith(lines, lines.length - 1, async () => {
      const written = (await remaining()).filter((key) => !key.startsWith('tombstone:'))
      const statuses = new Set<number>()
      for (const [kind, id] of written.filter((_key, i) => i % 20 === 0).map((key) => key.split(':')))
        statuses.add((await service.send(person.read, 'GET', `/${kind}s/${id}`)).status)
      const search = (await service.send(person.read, 'GET', '/cards?q=card')).body.data
      found = [written.length > 600, [...statuses], search, await boards(), (await findDamage(service.adminDeps)).findings]
    })
    expect(found).toEqual([true, [404], [], [], []])
    expect(await boards()).toHaveLength(1)
  })

  test('an import whose assignee leaves meanwhile fails, and leaves nothing', async () => {
    const other = await service.person(person.workspaceId)
    before = await remaining()
    const lines = linesOf(300, person, { assignees: [other.id] })
    const importing = importWith(lines, 400, () => endMembership(service.deps, person.workspaceId, other.id))
    await expect(importing).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining(other.id) })
    await collectGarbage(service.adminDeps, person.workspaceId)
    expect([await remaining(), await feeds()]).toEqual([before, []])
  })

  test('an import that stands still for an hour fails, and one that goes on is not collected', async () => {
    const wait =
      (hours: number, collects = true) =>
      async () => {
        service.now += hours * HOUR
        if (collects) await collectGarbage(service.adminDeps, person.workspaceId)
      }
    for (const collects of [true, false]) {
      await expect(importWith(linesOf(300, person), 400, wait(1, collects))).rejects.toMatchObject({ code: 'conflict' })
      expect([await remaining(), await feeds()]).toEqual([before, []])
    }
    async function* slow() {
      for (const [i, line] of linesOf(300, person).entries()) {
        if (i % 150 === 149) await wait(0.6)()
        yield line
      }
    }
    await importBoard(service.adminDeps, input, { ...createIo(), lines: slow() })
    expect((await service.send(person.read, 'GET', `/boards/${(await boards())[0].id}?include=counts`)).body.data.counts).toMatchObject({
      cards: 300,
    })
  })

  test.each([['a user of another workspace'], ['a workspace that does not exist']])('%s is refused', async (what) => {
    const other = await service.person(await service.workspace('Globex'))
    if (what.startsWith('a user')) input = { ...input, user: other.id }
    else input = { ...input, workspace: 'wsp_00000000000000000000' }
    await expect(importWith(linesOf(1, person))).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('a board with 5,000 cards is written in commits of at most 200 records and a million characters', async () => {
  const service = await Service.start(drivers[0]!)
  const person = await service.person(await service.workspace(), 'owner')
  const sizes: number[][] = []
  const { store } = service.adminDeps
  const observed = decorateStore(store, {
    commit: (partition, change) => {
      const values = [...change.put.values()].filter((value) => 'board_id' in value || 'card_id' in value)
      sizes.push([values.length, JSON.stringify(values).length])
      return store.commit(partition, change)
    },
  })
  const lines = linesOf(5000, person, { description: 'x'.repeat(2_000) })
  const large = JSON.parse(lines[3]!)
  const half = lines.length / 2
  const withLarge = lines.map((line, i) =>
    i > half && i < half + 100 && line.startsWith('{"card')
      ? JSON.stringify({ card: { ...large.card, description: 'x'.repeat(50_000) } })
      : line,
  )
  const { board_id, records } = await importBoard(
    { ...service.adminDeps, store: observed },
    { workspace: person.workspaceId, user: person.id },
    createIo(withLarge),
  )
  expect(records).toBe(5000 * 3 + 3)
  expect(Math.max(...sizes.map(([count]) => count!))).toBe(200)
  expect(Math.max(...sizes.map(([, characters]) => characters!))).toBeLessThan(1_100_000)
  const { counts } = (await service.send(person.read, 'GET', `/boards/${board_id}?include=counts`)).body.data
  expect(counts.cards).toBe(5000)
  await service.stop()
})
