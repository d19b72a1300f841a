import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drivers, type Driver } from '../../support/drivers.ts'
import { sampledRuns } from '../../support/sample.ts'
import { Service } from '../../support/service.ts'
import { compareAll } from './compare.ts'
import { checkInvariants } from './invariants.ts'
import { Model } from './model.ts'
import { Replicas } from './replica.ts'
import type { Fixture, Step } from './selection.ts'
import { prepare, send, stepKinds, timeBefore } from './steps.ts'

const stepArbitrary: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...stepKinds),
  actor: fc.nat(3),
  a: fc.nat(9),
  b: fc.nat(99),
  c: fc.nat(99),
})

/** Creates two boards, one of them private, with cards, labels, assignments and a cover. */
const SETUP = [
  ['create board', 0, 0, 0, 0],
  ['create column', 0, 0, 0, 1],
  ['create column', 0, 0, 0, 1],
  ['create card', 0, 0, 0, 0],
  ['create card', 0, 0, 0, 1],
  ['create card', 0, 0, 0, 0],
  ['create label', 0, 0, 0, 0],
  ['create label', 0, 0, 0, 0],
  ['add board member', 0, 0, 0, 1],
  ['assign card', 0, 0, 0, 1],
  ['assign card', 0, 0, 1, 2],
  ['assign card', 0, 0, 2, 3],
  ['apply label', 0, 0, 0, 0],
  ['apply label', 0, 0, 1, 1],
  ['upload attachment', 0, 0, 0, 1],
  ['set cover', 0, 0, 0, 0],
  ['create board', 1, 0, 0, 0],
  ['create column', 1, 1, 0, 1],
  ['create card', 1, 1, 0, 0],
  ['create card', 1, 1, 0, 0],
  ['set visibility of board', 1, 1, 0, 1],
  ['add board member', 1, 1, 0, 0],
  ['add board member', 1, 1, 0, 3],
  ['assign card', 1, 1, 0, 0],
  ['assign card', 1, 1, 1, 3],
] as const

/** How many records one commit of a cascade changes: with 1, most of each cascade follows its first commit. */
const batches = fc.constantFrom(1, 2, 100)

/** Creates a workspace with four people and the boards of SETUP. */
async function createFixture(driver: Driver, batch: number): Promise<Fixture> {
  const service = await Service.start(driver, { batch })
  const workspaceId = await service.workspace()
  const people = await Promise.all(['Ann', 'Bob', 'Cyd', 'Dan'].map((name) => service.person(workspaceId, 'member', name)))
  const model = new Model()
  for (const { id } of people) model.people.add(id)
  const fixture: Fixture = { service, people, model }
  for (const [kind, actor, a, b, c] of SETUP) await perform(fixture, { kind, actor, a, b, c })
  return fixture
}

/** Performs a step in the service and in the model, and compares the outcomes. */
async function perform(fixture: Fixture, step: Step): Promise<void> {
  fixture.service.now += timeBefore(step)
  const request = prepare(fixture, step)
  if (request === undefined) return
  if (typeof request === 'function') return request(fixture)
  const reply = await send(fixture, request)
  const hasLeft = !fixture.model.people.has(request.person.id)
  const expected = hasLeft ? 401 : request.expected
  const actual = reply.status < 300 ? 'ok' : reply.status
  if (actual !== expected)
    expect({ method: request.method, path: request.path, status: actual, text: reply.text }).toEqual({
      method: request.method,
      path: request.path,
      status: expected,
      text: reply.text,
    })
  if (expected === 'ok') request.apply(reply.body.data)
}

// Fewer runs on the slower drivers: they execute the same rules as memory.
describe.each(drivers)('random histories on $name', (driver) => {
  const isMemory = driver.name === 'memory'

  test('in a sequential history, the service behaves like the model', async () => {
    let steps = 0
    await fc.assert(
      fc.asyncProperty(batches, fc.array(stepArbitrary, { minLength: 20, maxLength: 120 }), async (batch, history) => {
        const fixture = await createFixture(driver, batch)
        for (const step of history) await perform(fixture, step)
        await compareAll(fixture)
        await checkInvariants(fixture.service, fixture.people[0]!.workspaceId)
        await fixture.service.stop()
        steps += history.length
      }),
      sampledRuns(isMemory ? 60 : 20, 10),
    )
    console.log(`histories on ${driver.name}: ${steps} steps compared with the model`)
  })

  test('after concurrent requests, no record is orphaned and every index matches its records', async () => {
    const rounds = fc.array(fc.array(stepArbitrary, { minLength: 2, maxLength: 12 }), { minLength: 5, maxLength: 15 })
    await fc.assert(
      fc.asyncProperty(batches, rounds, async (batch, history) => {
        const fixture = await createFixture(driver, batch)
        const replicas = new Replicas()
        for (const round of history) {
          for (const step of round) fixture.service.now += timeBefore(step)
          const requests = round.map((step) => prepare(fixture, step)).filter((request) => request !== undefined)
          const replies = await Promise.all(
            requests.map((request) => (typeof request === 'function' ? request(fixture) : send(fixture, request))),
          )
          for (const reply of replies) expect(reply?.status ?? 200).toBeLessThan(500)
          await updateModel(fixture)
          // Not after each round: a client does not see each state either.
          if (round.length % 3 === 0) await replicas.follow(fixture)
        }
        await replicas.compare(fixture)
        await checkInvariants(fixture.service, fixture.people[0]!.workspaceId)
        await fixture.service.stop()
      }),
      sampledRuns(isMemory ? 30 : 15, 3),
    )
  })
})

/** Updates the model from the stored records, because it cannot know the order of concurrent requests. */
async function updateModel({ service, people, model }: Fixture): Promise<void> {
  const keys = await service.recordKeys(people[0]!.workspaceId)
  const values = (await service.write(people[0]!.workspaceId, (tx) => tx.read(keys as never[]))) as any[]
  const allOf = (kind: string) => values.filter((_value, i) => keys[i]!.startsWith(`${kind}:`))
  const boardExists = (record: any) => values.some((other) => other?.id === record.board_id)
  model.boards.splice(
    0,
    Infinity,
    ...allOf('board').map((board) => ({
      id: board.id,
      creator: board.creator_id,
      private: board.visibility === 'private',
      members: allOf('board_member')
        .filter((member) => member.board_id === board.id)
        .map((member) => member.user_id),
      labels: allOf('label')
        .filter((label) => label.board_id === board.id)
        .map(({ id }) => id),
      columns: allOf('column')
        .filter((column) => column.board_id === board.id)
        .map((column) => ({
          id: column.id,
          archived: column.archived_at !== null,
          cards: allOf('card')
            .filter((card) => card.column_id === column.id && boardExists(card))
            .map((card) => modelCardOf(card, allOf)),
        })),
    })),
  )
  for (const file of allOf('file')) model.files.set(file.id, { owner: file.owner_id, visibility: file.visibility, home: file.board_id })
}

function modelCardOf(card: any, allOf: (kind: string) => any[]) {
  const ofCard = (kind: string) => allOf(kind).filter((record) => record.card_id === card.id)
  return {
    id: card.id,
    title: card.title,
    archived: card.archived_at !== null,
    done: card.completed_at !== null,
    assignees: card.assignee_ids,
    labels: card.label_ids,
    cover: card.cover_attachment_id,
    subtasks: ofCard('subtask').map(({ id, title }) => ({ id, title })),
    comments: ofCard('comment').map(({ id, author_id, body }) => ({ id, author: author_id, body })),
    attachments: ofCard('attachment').map(({ id, file_id, content_type }) => ({
      id,
      file: file_id,
      image: content_type.startsWith('image/'),
    })),
  }
}
