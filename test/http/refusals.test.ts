import { afterEach, beforeEach, expect, test } from 'vitest'
import { Turns } from '../../src/governor/turns.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person } from '../support/service.ts'

// The turns themselves: governor/turns.test.ts.

let now = 0
/** the ends of the pauses before a turn */
const pauses: (() => void)[] = []
let service: Service
let ann: Person
let bob: Person

beforeEach(async () => {
  now = 0
  pauses.length = 0
  const turns = new Turns({ now: () => now, afterPause: (end: () => void) => pauses.push(end) })
  service = await Service.start(memory, { turns, rateLimits: { quotas: { token: 1, workspace: 100, address: 1000 } } })
  const workspaceId = await service.workspace()
  ann = await service.person(workspaceId, 'member', 'Ann')
  bob = await service.person(workspaceId, 'member', 'Bob')
})
afterEach(() => service.stop())

/** Sends requests at once. Their statuses come in the order of the responses. */
function sendAll(token: string, count: number) {
  const statuses: number[] = []
  const all = Array.from({ length: count }, () => service.send(token, 'GET', '/account').then(({ status }) => statuses.push(status)))
  return { statuses, all: Promise.all(all) }
}
/** Lets everything go on that waits for no turn. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

test.each([
  ['429: its units are used up', () => ann.read, 200],
  ['401: its credential is not accepted', () => 'mcp_unknown', 401],
])('refusals wait for turns after the first ones, and others do not wait, %s', async (_name, token, first) => {
  expect((await service.send(token(), 'GET', '/account')).status).toBe(first)
  now += 4
  const { statuses, all } = sendAll(token(), 12)
  await settle()
  expect(statuses).toHaveLength(4)
  expect((await service.send(bob.read, 'GET', '/account')).status).toBe(200)
  for (let done = 4; done < 12; done++) {
    while (statuses.length === done) {
      pauses.shift()!()
      await settle()
    }
    expect(statuses).toHaveLength(done + 1)
  }
  await all
})

test('refusals are free again after four times as long', async () => {
  await sendAll('mcp_unknown', 4).all
  now += 16
  expect((await sendAll('mcp_unknown', 4).all).length).toBe(4)
  expect(pauses).toEqual([])
})
