import { expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { DAY } from '../../src/model/time.ts'
import { appendedEntry } from '../../src/store/appended.ts'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

const PEOPLE = 30
const WINDOW = 60_000

async function world(token: number) {
  const service = await Service.forSuite(memory, { rateLimits: { quotas: { token, workspace: 100_000, address: 10 } } })
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'owner', 'Ann')
  return { service, workspaceId, ann, board: await TestBoard.create(service, ann) }
}
const list = async (service: Service, { read }: Person, query = '') =>
  (await service.send(read, 'GET', `/notices?limit=100${query}`)).body.data as { kind: string; text: string; id: string }[]

test('a text with 10,000 mentions tells twenty people, and its token pays for them until it is refused', async () => {
  const { service, workspaceId, ann, board } = await world(50)
  const people: Person[] = []
  while (people.length < PEOPLE) people.push(await service.person(workspaceId, 'member', `Person ${people.length}`))
  const [all, card] = [people.map(({ id }) => `@${id}`).join(' '), await board.card(await board.column())]
  service.now += WINDOW
  const storm = Array.from({ length: Math.ceil(10_000 / PEOPLE) }, () => all).join(' ')
  const write = (body: string) => service.send(ann.write, 'PATCH', `/cards/${card}`, { description: body })
  const remaining = (reply: Awaited<ReturnType<typeof write>>) => Number(/"token";r=(\d+)/.exec(reply.headers.get('ratelimit')!)![1])
  const quiet = remaining(await write('Quiet'))
  const told = await write(storm.slice(0, 50_000))
  expect(told.status).toBe(200)
  const counts = await Promise.all(people.map(async (person) => (await list(service, person)).length))
  expect(counts).toEqual(people.map((_person, i) => (i < 20 ? 1 : 0)))
  // Four notices cost one unit: twenty cost five, beside what the write itself costs.
  const again = await write('Quiet')
  const [ofStorm, ofQuiet] = [quiet - remaining(told), remaining(told) - remaining(again)]
  expect(ofStorm).toBeGreaterThanOrEqual(ofQuiet + 5)
  const statuses: number[] = []
  for (let i = 0; i < 20; i++) statuses.push((await service.send(ann.write, 'POST', `/cards/${card}/comments`, { body: all })).status)
  expect(statuses[0]).toBe(201)
  expect(statuses.at(-1)).toBe(429)
  const comments = statuses.filter((status) => status === 201).length
  expect(await list(service, people[0]!)).toHaveLength(1 + comments)
})

test('a list of notices about long comments costs what it reads, and says how they begin', async () => {
  const { service, workspaceId, ann, board } = await world(1000)
  const bob = await service.person(workspaceId, 'member', 'Bob')
  const card = await board.card(await board.column(), 'Card', { assignee_ids: [bob.id] })
  const body = `${' '.repeat(1000)}@${bob.id} look ${'\u{1F600} '.repeat(6000)}`
  for (let i = 0; i < 60; i++) expect((await service.send(ann.write, 'POST', `/cards/${card}/comments`, { body })).status).toBe(201)
  service.now += WINDOW
  const reply = await service.send(bob.read, 'GET', '/notices?limit=100')
  const { text } = reply.body.data.at(-1)
  expect(text).toMatch(/: @Bob look (?:\u{1F600} ?)+…$/u)
  expect([...text].length).toBeLessThan(300)
  // Comments of about 1.1 million characters cost a unit for each 524,288.
  const used = 1000 - Number(/"token";r=(\d+)/.exec(reply.headers.get('ratelimit')!)![1])
  expect(used).toBe(1 + Math.floor((60 * body.length) / 524_288))
})

test('a person keeps the last 1,000 notices, for 90 days', async () => {
  const { service, workspaceId, board } = await world(100_000)
  const bob = await service.person(workspaceId, 'member', 'Bob')
  await board.card(await board.column(), 'Card', { assignee_ids: [bob.id] })
  await service.write(workspaceId, async (tx) => {
    const { entries, values } = await tx.range(indexes.notices(bob.id), { limit: 1 })
    expect(entries).toHaveLength(1)
    for (let i = 2; i <= 1005; i++) await tx.create(keys.notice(bob.id, appendedEntry(i)), values[0]!)
  })
  const all = async () => {
    const found: string[] = []
    for (let after = ''; ;) {
      const { body } = await service.send(bob.read, 'GET', `/notices?limit=100${after}`)
      if (body.data.length === 0) return found
      found.push(...body.data.map(({ id }: { id: string }) => id))
      after = `&after=${body.page.next_cursor}`
    }
  }
  const stored = async () => (await service.recordKeys(workspaceId)).filter((key) => key.startsWith('notice:')).length
  const before = await all()
  expect(before).toHaveLength(1000)
  expect(await stored()).toBe(1005)
  service.now += 2 * DAY
  await collectGarbage(service.adminDeps, workspaceId)
  expect({ stored: await stored(), shown: await all() }).toEqual({ stored: 1000, shown: before })
  service.now += 88 * DAY + 1
  // Those that they had have ended.
  const token = await service.token(workspaceId, bob.id, ['kanban:read'])
  const { body } = await service.send(token, 'GET', '/notices?limit=100')
  expect(body.data).toEqual([])
  await collectGarbage(service.adminDeps, workspaceId)
  service.now += 3 * DAY
  await collectGarbage(service.adminDeps, workspaceId)
  // The last one stays, unseen: the next one has a later number.
  expect(await stored()).toBe(1)
})
