import { beforeEach, describe, expect, test } from 'vitest'
import { WorkspaceRounds } from '../../src/reminders/workspace-rounds.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

const MINUTE = 60_000
const IDLE = 60 * MINUTE

describe.each([
  ['that visit once after a change', 0],
  ['that visit for some time after a change', 5 * MINUTE],
])('rounds %s', async (_name, busy) => {
  const service = await Service.forSuite()
  const [changed, other] = [await service.workspace(), await service.workspace()] as [string, string]
  let visited: string[] = []
  let failing: string | undefined
  class Rounds extends WorkspaceRounds {
    constructor() {
      super(
        { services: () => service.app.services, random: service.deps.random },
        { period: MINUTE, idle: IDLE, busy },
        { event: 'test', message: 'a visit failed' },
      )
    }
    protected async visit(workspaceId: string): Promise<void> {
      visited.push(workspaceId)
      if (workspaceId === failing) throw new Error('a failure')
    }
  }
  let rounds: Rounds
  const change = (members: object = { effect: 'done' }) => rounds.observe({ workspaceId: changed, ...members } as never, undefined as never)
  /** Makes a round after some time. @returns the visited workspaces */
  const round = async (milliseconds = MINUTE) => {
    service.now += milliseconds
    visited = []
    await rounds.look()
    return visited
  }
  beforeEach(async () => {
    failing = undefined
    rounds = new Rounds()
    expect((await round()).toSorted()).toEqual([changed, other].toSorted())
  })

  test('leave a workspace alone where nothing was done, until its time', async () => {
    expect(await round()).toEqual([])
    change({})
    expect(await round()).toEqual([])
    expect(await round(IDLE - 3 * MINUTE)).toEqual([])
    expect((await round()).length).toBe(2)
  })

  test('visit nothing at the same moment, and nothing after they were stopped', async () => {
    expect(await round(0)).toEqual([])
    change()
    await rounds.stop()
    expect(await round(IDLE)).toEqual([])
  })

  test('visit one where something was done', async () => {
    change()
    expect([await round(), await round()]).toEqual([[changed], busy === 0 ? [] : [changed]])
    expect(await round(4 * MINUTE)).toEqual([])
    // Also while the clock stands still.
    change()
    expect(await round(0)).toEqual([changed])
  })

  test('visit again after a failure, which delays no other one', async () => {
    failing = changed
    change()
    expect([await round(), await round()]).toEqual([[changed], [changed]])
    failing = undefined
    expect([await round(), await round(5 * MINUTE)]).toEqual([[changed], []])
  })

  test('wait no longer when the clock steps back', async () => {
    expect((await round(-MINUTE)).length).toBe(2)
    expect(await round()).toEqual([])
  })
})

test('rounds follow each other from the start to the stop, also after one that fails, which the log has', async () => {
  const service = await Service.start(memory)
  const workspaceId = await service.workspace()
  const captured = captureLog()
  let isFailing = true
  let rounds = 0
  class Rounds extends WorkspaceRounds {
    constructor() {
      const services = () => {
        rounds++
        const store = isFailing ? (undefined as never) : service.store
        return { ...service.app.services, store, log: captured.log }
      }
      super({ services, random: service.deps.random }, { period: 1, idle: IDLE, busy: 0 }, { event: 'test', message: 'a visit failed' })
    }
    protected async visit(id: string): Promise<void> {
      visits.push(id)
    }
  }
  const visits: string[] = []
  const one = new Rounds()
  one.start()
  await expect.poll(() => captured.lines.length).toBeGreaterThan(1)
  expect(captured.lines[0]).toMatchObject({ level: 40, event: 'test', msg: 'a visit failed' })
  isFailing = false
  await expect.poll(() => visits).toEqual([workspaceId])
  await one.stop()
  const before = rounds
  one.observe({ workspaceId, effect: 'done' } as never, undefined as never)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect([visits, rounds]).toEqual([[workspaceId], before])
  await service.stop()
})
