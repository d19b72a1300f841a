import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drivers, type Driver } from '../../support/drivers.ts'
import { runs } from '../../support/effort.ts'
import { Service } from '../../support/service.ts'
import { compareAll } from './compare.ts'
import { checkInvariants } from './invariants.ts'
import { Model } from './model.ts'
import { kindCount, leave, prepare, send, type Ground, type Step } from './steps.ts'

const step: fc.Arbitrary<Step> = fc.record({ kind: fc.nat(kindCount - 1), actor: fc.nat(3), a: fc.nat(9), b: fc.nat(99), c: fc.nat(99) })

/** Two boards, one of them private, with cards, labels, assignments and a cover: kind, actor, a, b, c of each step. */
const BEGINNING = [
  [0, 0, 0, 0, 0],
  [5, 0, 0, 0, 1],
  [5, 0, 0, 0, 1],
  [8, 0, 0, 0, 0],
  [8, 0, 0, 0, 1],
  [8, 0, 0, 0, 0],
  [15, 0, 0, 0, 0],
  [15, 0, 0, 0, 0],
  [2, 0, 0, 0, 1],
  [17, 0, 0, 0, 1],
  [17, 0, 0, 1, 2],
  [17, 0, 0, 2, 3],
  [19, 0, 0, 0, 0],
  [19, 0, 0, 1, 1],
  [25, 0, 0, 0, 1],
  [28, 0, 0, 0, 0],
  [0, 1, 0, 0, 0],
  [5, 1, 1, 0, 1],
  [8, 1, 1, 0, 0],
  [8, 1, 1, 0, 0],
  [1, 1, 1, 0, 1],
  [2, 1, 1, 0, 0],
  [2, 1, 1, 0, 3],
  [17, 1, 1, 0, 0],
  [17, 1, 1, 1, 3],
] as const

/** A workspace with four people and these boards, so that histories need not begin at nothing. */
async function ground(driver: Driver): Promise<Ground> {
  const service = await Service.start(driver)
  const workspaceId = await service.workspace()
  const people = await Promise.all(['Ann', 'Bob', 'Cyd', 'Dan'].map((name) => service.person(workspaceId, 'member', name)))
  const model = new Model()
  for (const { id } of people) model.people.add(id)
  const here: Ground = { service, people, model }
  for (const [kind, actor, a, b, c] of BEGINNING) await walk(here, { kind, actor, a, b, c })
  return here
}

/** Takes one step in the service and in the model, and compares the answers. */
async function walk(here: Ground, taken: Step): Promise<void> {
  here.service.now += 1
  const move = prepare(here, taken)
  if (move === undefined) return
  if (move === 'leave') return leave(here)
  const reply = await send(here, move)
  const left = !here.model.people.has(move.person.id)
  const expected = left ? 401 : move.expected
  expect([move.method, move.path, reply.status < 300 ? 'ok' : reply.status, reply.text]).toEqual([
    move.method,
    move.path,
    expected,
    reply.text,
  ])
  if (expected === 'ok') move.apply(reply.body.data)
}

describe.each(drivers)('histories, on $name', (driver) => {
  test('step by step, the service does what the model says', async () => {
    let steps = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (history) => {
        const here = await ground(driver)
        for (const taken of history) await walk(here, taken)
        await compareAll(here)
        await checkInvariants(here.service, here.people[0]!.workspaceId)
        await here.service.stop()
        steps += history.length
      }),
      runs(60),
    )
    console.log(`histories on ${driver.name}: ${steps} steps compared with the model`)
  })

  test('all at once, nothing is torn, orphaned or counted wrong', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 2, maxLength: 12 }), { minLength: 5, maxLength: 15 }), async (rounds) => {
        const here = await ground(driver)
        for (const round of rounds) {
          here.service.now += 1
          const moves = round.map((taken) => prepare(here, taken)).filter((move) => move !== undefined)
          const replies = await Promise.all(moves.map((move) => (move === 'leave' ? leave(here) : send(here, move))))
          for (const reply of replies) expect(reply?.status ?? 200).toBeLessThan(500)
          await follow(here)
        }
        await checkInvariants(here.service, here.people[0]!.workspaceId)
        await here.service.stop()
      }),
      runs(30),
    )
  })
})

/** Lets the model know what there is, after a round in which it could not know the order: as far as choosing needs it. */
async function follow({ service, people, model }: Ground): Promise<void> {
  const keys = await service.recordKeys(people[0]!.workspaceId)
  const values = (await service.write(people[0]!.workspaceId, (tx) => tx.read(keys as never[]))) as any[]
  const of = (kind: string) => values.filter((_value, i) => keys[i]!.startsWith(`${kind}:`))
  const live = (value: any) => values.some((other) => other?.id === value.board_id)
  model.boards.splice(
    0,
    Infinity,
    ...of('board').map((board) => ({
      id: board.id,
      creator: board.creator_id,
      private: board.visibility === 'private',
      members: of('board_member')
        .filter((entry) => entry.board_id === board.id)
        .map((entry) => entry.user_id),
      labels: of('label')
        .filter((label) => label.board_id === board.id)
        .map(({ id }) => id),
      columns: of('column')
        .filter((column) => column.board_id === board.id)
        .map((column) => ({
          id: column.id,
          archived: column.archived_at !== null,
          cards: of('card')
            .filter((card) => card.column_id === column.id && live(card))
            .map((card) => cardOf(card, of)),
        })),
    })),
  )
  for (const file of of('file')) model.files.set(file.id, { owner: file.owner_id, private: file.visibility === 'private' })
}

function cardOf(card: any, of: (kind: string) => any[]) {
  const on = (kind: string) => of(kind).filter((thing) => thing.card_id === card.id)
  return {
    id: card.id,
    title: card.title,
    archived: card.archived_at !== null,
    done: card.completed_at !== null,
    assignees: card.assignee_ids,
    labels: card.label_ids,
    cover: card.cover_attachment_id,
    subtasks: on('subtask').map(({ id, title }) => ({ id, title })),
    comments: on('comment').map(({ id, author_id, body }) => ({ id, author: author_id, body })),
    attachments: on('attachment').map(({ id, file_id, content_type }) => ({ id, file: file_id, image: content_type.startsWith('image/') })),
  }
}
