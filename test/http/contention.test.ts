import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

/** Connections that write all the time. */
const WRITERS = 12
/** Requests of each kind that another member sends meanwhile. */
const REQUESTS = 20

interface Setup {
  readonly service: Service
  readonly board: TestBoard
  readonly bob: Person
  readonly card: string
}

async function setUp(driver: Driver): Promise<Setup> {
  const service = await Service.start(driver)
  const workspaceId = await service.workspace()
  const [ann, bob] = [await service.person(workspaceId), await service.person(workspaceId)]
  const board = await TestBoard.create(service, ann)
  const column = await board.column()
  const card = await board.card(column)
  return { service, board, bob, card }
}

/**
 * Renames the board over several connections, as often as possible, until the other requests are answered.
 * @returns the statuses of all responses
 */
async function renameDuring({ service, board }: Setup, others: () => Promise<readonly Reply[]>) {
  let isOver = false
  const renames: number[] = []
  const rename = async (): Promise<void> => {
    while (!isOver) {
      const reply = await service.send(board.creator.write, 'PATCH', `/boards/${board.id}`, { name: `${renames.length}` })
      renames.push(reply.status)
      await nextTurn()
    }
  }
  const writers = Array.from({ length: WRITERS }, rename)
  const replies = await others().finally(() => (isOver = true))
  await Promise.all(writers)
  return { statuses: replies.map(({ status }) => status), renames }
}

describe.each(drivers)('while other requests keep changing a board, on $name', (driver) => {
  let setup: Setup
  beforeEach(async () => {
    setup = await setUp(driver)
  })
  afterEach(() => setup.service.stop())

  test('every comment is created, every list is answered, and every change is made', async () => {
    const { service, board, bob, card } = setup
    const { statuses, renames } = await renameDuring(setup, async () => {
      const replies: Reply[] = []
      for (let i = 0; i < REQUESTS; i++) {
        replies.push(await service.send(bob.write, 'POST', `/cards/${card}/comments`, { body: `${i}` }))
        replies.push(await service.send(bob.read, 'GET', `/boards/${board.id}/cards?q=1`))
        replies.push(await service.send(bob.read, 'GET', '/boards'))
        // In memory a request never waits for input or output, so it has to let the others run.
        await nextTurn()
      }
      return replies
    })
    expect(statuses).toEqual(Array.from({ length: REQUESTS }, () => [201, 200, 200]).flat())
    expect(renames.length).toBeGreaterThan(WRITERS)
    expect(new Set(renames)).toEqual(new Set([200]))
    expect(await board.all(`/cards/${card}/comments`)).toHaveLength(REQUESTS)
  })

  test('requests that all change one card are all answered, and no change is lost', async () => {
    const { service, board, card } = setup
    const label = await Promise.all(Array.from({ length: 25 }, () => board.label()))
    const replies = await Promise.all(label.map((id) => service.send(board.creator.write, 'PUT', `/cards/${card}/labels/${id}`)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    const { body } = await service.send(board.creator.read, 'GET', `/cards/${card}`)
    expect(body.data.label_ids.toSorted()).toEqual(label.toSorted())
  })
})
