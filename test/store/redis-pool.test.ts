import { once } from 'node:events'
import { connect as connectTo, createServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'
import { ReplyError } from 'ioredis'
import { describe, expect, test, vi } from 'vitest'
import type { Connection } from '../../src/store/redis/client.ts'
import { CommandFailed, connect, dropIfUnresponsive, toUnavailable, withTimeout } from '../../src/store/redis/pool.ts'
import { slotOf } from '../../src/store/redis/slots.ts'
import { recordDelays } from '../support/delays.ts'
import { quiet } from '../support/log.ts'
import { failing, FakeClient, fakeCluster, LONG, LOST, poolOf, TIMEOUT } from '../support/redis-clients.ts'

const MOVED = 'MOVED 5 127.0.0.1:7000'
/** A command that reports the client which it gets. */
const identity = async (client: Connection): Promise<object> => client

describe('a failed command', () => {
  const failure = { name: 'CommandFailed', refused: false, timedOut: false, unsent: false }
  const wrapped = (text: string) => new Error(`Too many Cluster redirections. Last error: ${text}`)
  test.each<[string, Error, object]>([
    ['an error reply is a refusal', new ReplyError('OOM'), { ...failure, message: 'OOM', refused: true }],
    ['a timeout is no refusal', TIMEOUT, { ...failure, message: 'Command timed out', timedOut: true }],
    ['a lost connection is neither', LOST, { ...failure, message: 'Connection is closed.' }],
    ['without a connection it was not sent', new Error("Stream isn't writeable and"), { ...failure, unsent: true }],
    ['without a cluster it was not sent', new Error("Cluster isn't ready and"), { ...failure, unsent: true }],
    ['an error reply of a cluster is a refusal', wrapped(`ReplyError: ${MOVED}`), { ...failure, message: MOVED, refused: true }],
    ['a timeout in a cluster is no refusal', wrapped('Error: Command timed out'), { ...failure, timedOut: true }],
    ['all lines of a wrapped message are used', wrapped('Error: one\ntwo'), { ...failure, message: 'one\ntwo' }],
    [
      'a message that quotes another one is not shortened',
      new Error(`x ${wrapped('ReplyError: y').message}`),
      { ...failure, message: 'x Too many Cluster redirections. Last error: ReplyError: y' },
    ],
  ])('%s', (_what, error, expected) => expect(new CommandFailed(error)).toMatchObject(expected))

  test('makes the storage unavailable, with the reason of a refusal', () => {
    const refused = new CommandFailed(new ReplyError('OOM'))
    expect(toUnavailable(refused)).toMatchObject({ name: 'StorageUnavailable', message: 'Redis refused: OOM', cause: refused })
    const lost = new CommandFailed(LOST)
    expect(toUnavailable(lost)).toMatchObject({ name: 'StorageUnavailable', message: 'Redis did not answer', cause: lost })
  })

  test('is not confused with a defect, which is thrown as it is', () => {
    const defect = new TypeError('x is not a function')
    expect(() => toUnavailable(defect)).toThrow(defect)
  })
})

describe('the connections of a pool', () => {
  test('are used in turn', async () => {
    const clients = [new FakeClient(), new FakeClient()]
    const pool = poolOf(clients)
    const used = [await pool.run(identity), await pool.run(identity), await pool.run(identity), await pool.run(identity)]
    expect(new Set(used)).toEqual(new Set(clients))
    expect(used[0]).not.toBe(used[1])
    expect(used.slice(2)).toEqual(used.slice(0, 2))
  })

  test('are the same for all commands of a group, and others are used for other groups', async () => {
    const [clients, groups] = [[new FakeClient(), new FakeClient()], Array.from({ length: 20 }, (_, i) => `lk:{wsp_${i}}`)]
    const pool = poolOf(clients)
    const usedBy = async (group: string) => pool.run(identity, group)
    const used = await Promise.all(groups.map(usedBy))
    expect(await Promise.all(groups.map(usedBy))).toEqual(used)
    expect(new Set(used)).toEqual(new Set(clients))
    ;(used[0] as FakeClient).status = 'reconnecting'
    expect(await usedBy(groups[0]!)).toBe(clients.find((client) => client !== used[0]))
  })

  test('are skipped while they are not open', async () => {
    const clients = [new FakeClient(), new FakeClient('reconnecting')]
    const pool = poolOf(clients)
    for (let i = 0; i < 3; i++) expect(await pool.run(identity)).toBe(clients[0])
  })

  test('are used although none is open, so that the command reports why', async () => {
    const clients = [new FakeClient('reconnecting'), new FakeClient('connecting')]
    expect(clients).toContain(await poolOf(clients).run(identity))
  })

  test('are all replaced when one command times out, except those that are replaced already', async () => {
    const clients = [new FakeClient(), new FakeClient(), new FakeClient('reconnecting')]
    await expect(poolOf(clients).run(failing(TIMEOUT))).rejects.toMatchObject({ name: 'CommandFailed', timedOut: true })
    expect(clients.map(({ disconnect }) => disconnect.mock.calls)).toEqual([[[true]], [[true]], []])
  })

  test.each([LOST, new ReplyError('OOM')])('are not replaced because of the error "$message"', async (error) => {
    const client = new FakeClient()
    await expect(poolOf([client]).run(failing(error))).rejects.toThrow(CommandFailed)
    expect(client.disconnect).not.toHaveBeenCalled()
  })

  test('are closed with the pool', () => {
    const clients = [new FakeClient(), new FakeClient('reconnecting')]
    poolOf(clients).close()
    for (const { disconnect } of clients) expect(disconnect).toHaveBeenCalledExactlyOnceWith()
  })
})

describe('a pool of clients of a cluster', () => {
  /** A command that is redirected a number of times. */
  const redirected = (times: number, events: string[]) => async (): Promise<string> => {
    events.push('sent')
    if (times-- > 0) throw new Error(`Too many Cluster redirections. Last error: ReplyError: ${MOVED}`)
    return 'reply'
  }

  test('follows two redirections, each after it has asked for the slots', async () => {
    const events: string[] = []
    expect(await poolOf([fakeCluster(events)]).run(redirected(2, events))).toBe('reply')
    expect(events).toEqual(['sent', 'refreshed', 'sent', 'refreshed', 'sent'])
  })

  test('does not follow a third redirection', async () => {
    const events: string[] = []
    const outcome = poolOf([fakeCluster(events)]).run(redirected(3, events))
    await expect(outcome).rejects.toMatchObject({ name: 'CommandFailed', message: MOVED, refused: true })
    expect(events).toEqual(['sent', 'refreshed', 'sent', 'refreshed', 'sent'])
  })

  test('repeats no command that fails for another reason', async () => {
    const events: string[] = []
    const pool = poolOf([fakeCluster(events)])
    await expect(pool.run(failing(new ReplyError('CLUSTERDOWN')))).rejects.toMatchObject({ message: 'CLUSTERDOWN' })
    expect(events).toEqual([])
  })

  test('that is addressed like a single server follows no redirection', async () => {
    const events: string[] = []
    const outcome = poolOf([new FakeClient()]).run(redirected(1, events))
    await expect(outcome).rejects.toMatchObject({ message: expect.stringContaining(MOVED) })
    expect(events).toEqual(['sent'])
  })

  test('replaces only the connections to nodes that do not answer', async () => {
    const nodes = ['pong', TIMEOUT, LOST].map((answer) => ({
      ping: async () => {
        if (answer instanceof Error) throw answer
        return answer
      },
      disconnect: vi.fn(),
    }))
    const cluster = fakeCluster([], { all: nodes, master: [] })
    dropIfUnresponsive(cluster as never, TIMEOUT)
    await nextRound()
    expect(nodes.map(({ disconnect }) => disconnect.mock.calls.length)).toEqual([0, 1, 0])
    expect(cluster.disconnect).not.toHaveBeenCalled()
  })

  describe('whose slots are known', () => {
    const [FIRST, SECOND] = ['127.0.0.1:7000', '127.0.0.1:7001']
    const halves = Array.from({ length: 16_384 }, (_, slot) => [slot < 8192 ? FIRST : SECOND, 'a replica'])
    /** A cluster whose masters answer writes. */
    const clusterWith = (slots: unknown, answer: (master: string) => Promise<string> = async () => 'OK') => {
      const writes: unknown[][] = []
      const set = async (...values: [string, ...unknown[]]) => {
        writes.push(values)
        return answer(slotOf(/\{(.*)\}$/.exec(values[0])![1]!) < 8192 ? FIRST : SECOND)
      }
      return { cluster: Object.assign(fakeCluster(), { slots, set }), writes }
    }

    test('is ready when every master accepts a write', async () => {
      const { cluster, writes } = clusterWith(halves)
      await poolOf([cluster]).probe('lk:ready')
      expect(writes).toEqual([
        [expect.stringMatching(/^lk:ready:\{\d+\}$/), '', 'PX', 1000],
        [expect.stringMatching(/^lk:ready:\{\d+\}$/), '', 'PX', 1000],
      ])
      expect(new Set(writes.map(([key]) => slotOf(/\{(.*)\}/.exec(key as string)![1]!) < 8192)).size).toBe(2)
    })

    test.each([FIRST, SECOND])('is not ready when the master at %s does not answer', async (silent) => {
      const { cluster } = clusterWith(halves, async (master) => {
        if (master === silent) throw LOST
        return 'OK'
      })
      await expect(poolOf([cluster], 0).probe('lk:ready')).rejects.toMatchObject({
        name: 'CommandFailed',
        message: expect.stringContaining(LOST.message),
      })
    })

    test('is not ready when a slot has no master', async () => {
      const { cluster } = clusterWith(halves.with(9, undefined as never))
      await expect(poolOf([cluster], 0).probe('lk:ready')).rejects.toMatchObject({ message: 'a part of the slots has no master' })
    })
  })
})

test('a single Redis is ready when it accepts a write', async () => {
  const client = new FakeClient()
  await poolOf([client]).probe('lk:ready')
  expect(client.set).toHaveBeenCalledExactlyOnceWith('lk:ready', '', 'PX', 1000)
  client.set.mockRejectedValue(new ReplyError('OOM'))
  await expect(poolOf([client]).probe('lk:ready')).rejects.toMatchObject({ refused: true })
})

test.each<[string, Error[], number | Error]>([
  ['its connection was lost, because another command has timed out', [LOST], 2],
  ['it has timed out once, because this process was busy', [TIMEOUT], 2],
  ['both have happened', [LOST, TIMEOUT, LOST], 4],
  ['it has timed out twice', [TIMEOUT, TIMEOUT], TIMEOUT],
])('whether a single Redis is ready is asked again if %s', async (_what, failures, expected) => {
  const client = new FakeClient()
  for (const failure of failures) client.set.mockRejectedValueOnce(failure)
  const probed = poolOf([client]).probe('lk:ready')
  if (expected instanceof Error) await expect(probed).rejects.toMatchObject({ message: expected.message })
  else expect({ probed: await probed, calls: client.set.mock.calls.length }).toEqual({ probed: 0, calls: expected })
})

test('a client that cannot connect is closed, and its own error is thrown when no event has another one', async () => {
  const client = Object.assign(new FakeClient('wait'), { connect: failing(LOST) })
  const outcome = connect([client as never], 'redis://127.0.0.1', quiet)
  await expect(outcome).rejects.toMatchObject({ name: 'CommandFailed', message: expect.stringContaining(LOST.message) })
  expect(client.disconnect).toHaveBeenCalledExactlyOnceWith()
})

test('connecting is given up after ten seconds, and the client is closed', async () => {
  const delays = recordDelays()
  const client = Object.assign(new FakeClient('wait'), { connect: () => new Promise(() => undefined) })
  await expect(connect([client as never], 'redis://127.0.0.1', quiet)).rejects.toThrow('no connection within 10 seconds')
  expect(client.disconnect).toHaveBeenCalledExactlyOnceWith()
  delays.restore()
})

describe('work with a time limit', () => {
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length

  test('has its result', async () => {
    expect(await withTimeout(LONG, Promise.resolve('done'), TIMEOUT)).toBe('done')
    await expect(withTimeout(LONG, Promise.reject(LOST), TIMEOUT)).rejects.toBe(LOST)
  })

  test('leaves no timer behind that the process would wait for', async () => {
    const before = timers()
    await withTimeout(LONG, Promise.resolve(), TIMEOUT)
    expect(timers()).toBe(before)
  })

  test('has its result if that has arrived while the process was busy', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const socket = connectTo((server.address() as AddressInfo).port, '127.0.0.1')
    const [[peer]] = await Promise.all([accepted, once(socket, 'connect')])
    const answered = withTimeout(20, once(socket, 'data'), TIMEOUT)
    peer.end('answer')
    const end = performance.now() + 60
    while (performance.now() < end);
    await answered
    socket.destroy()
    server.close()
  })

  test('fails when it takes longer', async () => {
    await expect(withTimeout(10, new Promise(() => undefined), TIMEOUT)).rejects.toBe(TIMEOUT)
  })
})
