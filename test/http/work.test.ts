import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { Admission, Work } from '../../src/http/work.ts'
import { Scheduler } from '../../src/resources/scheduler.ts'

/** Bytes of an answer that costs 11 units. */
const FAT = 10 * 64 * 1024

describe('reads of one token and operation', () => {
  let admission: Admission
  let pauses: number[]
  let running: Set<Work>
  beforeEach(() => {
    pauses = []
    running = new Set()
    // Nobody gets a slice.
    admission = new Admission(new Scheduler({ afterPause: (_work, count) => pauses.push(count) }))
  })
  const begin = async (signal = new AbortController().signal): Promise<Work> => {
    const work = new Work()
    work.kind = 'token cards.list'
    await admission.begin({ workspaceId: 'w', hasLease: false, signal }, work, true)
    running.add(work)
    return work
  }
  const end = async (work: Work, bytes = 0): Promise<void> => {
    running.delete(work)
    work.bytes = bytes
    admission.end(work, bytes >= 0)
    await nextTurn()
  }
  const beginMany = async (count: number, clients: readonly AbortController[] = []) => {
    const all = Array.from({ length: count }, (_, i) => begin(clients[i]?.signal))
    for (const one of all) one.catch(() => undefined)
    await nextTurn()
    return all
  }

  test('are performed four at a time, although the last one was cheap, and each of them makes room for one', async () => {
    await end(await begin())
    await beginMany(20)
    for (let i = 0; i < 30; i++) {
      expect(running.size).toBe(Math.min(4, 20 - i < 0 ? 0 : 20 - i))
      const [first] = running
      if (first !== undefined) await end(first)
    }
  })

  test('wait for slices as soon as one of them was expensive: no target can be chosen to run unpaid', async () => {
    // A cheap target and a fat one alternate.
    for (let i = 0; i < 3; i++) await end(await begin())
    await beginMany(60)
    expect([running.size, pauses.length]).toEqual([4, 0])
    const [first] = running
    await end(first!, FAT)
    expect([running.size, pauses.length]).toEqual([3, 1])
  })

  test('that wait for a place lose it when their clients leave, and the others get theirs', async () => {
    const clients = Array.from({ length: 1000 }, () => new AbortController())
    const [first] = await beginMany(4)
    const gone = await beginMany(1000, clients)
    const [last] = await beginMany(1)
    for (const client of clients) client.abort()
    expect(new Set(await Promise.all(gone.map((one) => one.catch(({ code }) => code))))).toEqual(new Set(['request_timeout']))
    await end(await first!)
    expect([running.has(await last!), running.size]).toEqual([true, 4])
  })

  test('that are refused make room, too', async () => {
    const [first] = await beginMany(4)
    const [next] = await beginMany(1)
    await end(await first!, -1)
    expect(running.has(await next!)).toBe(true)
  })
})
