import crypto from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import fs, { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer, Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FolderInUse, lockFolder } from '../../src/store/fs/lock.ts'
import { eachInFolder } from '../support/temporary-folder.ts'
import { replaceBuiltin, replaceDelays } from '../support/builtins.ts'

const SOCKET = /^\d{8}\.sock$/

describe('the sockets of the lock of a folder', () => {
  let path: string
  let run: string
  /** What is closed after each test. */
  const closers: (() => unknown)[] = []
  eachInFolder((created) => (path = created))
  beforeEach(async () => {
    run = `${path}/run`
    await mkdir(run)
  })
  afterEach(async () => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    for (const close of closers.splice(0).toReversed()) await close()
  })
  const take = async (serve: (socket: Socket) => void = () => undefined) => {
    const lock = await lockFolder(path, serve)
    closers.push(() => lock.release())
    return lock
  }
  const refusal = async (): Promise<FolderInUse> => {
    const error = await take().then(
      () => expect.unreachable('the lock was taken'),
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(FolderInUse)
    return error as FolderInUse
  }
  /** Another process that listens in the folder. */
  const listen = async (name: string, serve: (socket: Socket) => void = (socket) => socket.end()): Promise<Server> => {
    const server = createServer(serve)
    server.listen(`${run}/${name}`)
    await once(server, 'listening')
    closers.push(() => server.close())
    return server
  }
  /** The name of the socket with which the lock was taken. */
  const ownName = (names: readonly string[]) => names.find((name) => SOCKET.test(name) && !name.startsWith('0000'))
  /** Creates a socket that no process listens on. */
  const createDead = async (name: string): Promise<void> => {
    const server = createServer()
    server.listen(`${run}/live`)
    await once(server, 'listening')
    await rename(`${run}/live`, `${run}/${name}`)
    await new Promise((resolve) => server.close(resolve))
  }
  /** A line that a client reads. */
  const lineOf = async (socket: Socket) => String((await once(socket, 'data'))[0])

  describe('the holder', () => {
    test('it tells each connection who it is, and then serves it', async () => {
      const served: Socket[] = []
      await take((socket) => {
        served.push(socket)
        socket.end('served\n')
      })
      const [name] = await readdir(run)
      expect(name).toMatch(SOCKET)
      const client = connect(`${run}/${name}`)
      let text = ''
      client.on('data', (data) => (text += String(data)))
      await once(client, 'close')
      const [about, rest] = text.split('\n')
      expect(JSON.parse(about!)).toEqual({ pid: process.pid, since: expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/) })
      expect([rest, served.length]).toEqual(['served', 1])
    })

    test('a connection that breaks does not end it', async () => {
      const served: Socket[] = []
      await take((socket) => served.push(socket))
      const [name] = await readdir(run)
      const client = connect(`${run}/${name}`)
      await lineOf(client)
      await expect.poll(() => served).toHaveLength(1)
      // Not by once(), which would handle the error.
      const closed = new Promise((resolve) => served[0]!.on('close', resolve))
      client.destroy()
      for (let i = 0; i < 100 && !served[0]!.destroyed; i++) {
        served[0]!.write('x'.repeat(100_000))
        await turn()
      }
      await closed
      expect((await refusal()).holder?.pid).toBe(process.pid)
    })

    test('its connections stay open when the lock is released, and its socket is removed', async () => {
      const lock = await take((socket) => void socket.on('data', (data) => socket.end(data)))
      const [name] = await readdir(run)
      const client = connect(`${run}/${name}`)
      await lineOf(client)
      await lock.release()
      expect(await readdir(run)).toEqual([])
      client.write('still here')
      expect(await lineOf(client)).toBe('still here')
    })
  })

  describe('a process that finds a holder', () => {
    test('the error has its process, its time and its socket', async () => {
      const about = { pid: 12, since: '2026-11-20T12:00:00.000Z' }
      // The line arrives in parts, and more follows.
      await listen('00000007.sock', async (socket) => {
        socket.write('{"pid":12,')
        await turn()
        socket.write('"since":"2026-11-20T12:00:00.000Z"}\nmore')
      })
      const error = await refusal()
      expect([error.name, error.message]).toEqual(['FolderInUse', `${path} is in use by process 12, since 2026-11-20T12:00:00.000Z`])
      expect([error.holder, error.socket]).toEqual([about, `${run}/00000007.sock`])
    })

    test.each([
      ['that closes its connections', (socket: Socket) => socket.end()],
      ['that says something else', (socket: Socket) => socket.end('hello\n')],
      ['that says something without an end of the line', (socket: Socket) => socket.end('{"pid":1}')],
    ])('a holder %s is another process, without waiting', async (_what, serve) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      await listen('00000007.sock', serve)
      const error = await refusal()
      expect([error.message, error.holder, error.socket]).toEqual([
        `${path} is in use by another process`,
        undefined,
        `${run}/00000007.sock`,
      ])
    })

    test('a holder that says nothing is another process after two seconds', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const server = await listen('00000007.sock', () => undefined)
      const refused = refusal()
      let isRefused = false
      void refused.then(() => (isRefused = true))
      const [socket] = (await once(server, 'connection')) as [Socket]
      vi.advanceTimersByTime(1999)
      for (let turns = 0; turns < 5; turns++) await turn()
      expect(isRefused).toBe(false)
      const closed = once(socket, 'close')
      vi.advanceTimersByTime(1)
      expect((await refused).holder).toBeUndefined()
      socket.resume()
      await closed
    })

    test('its connection to the holder is closed, and no timer remains', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const server = await listen('00000007.sock', (socket) => void socket.write('{"pid":12,"since":"x"}\n'))
      const connected = once(server, 'connection') as Promise<[Socket]>
      await refusal()
      expect(vi.getTimerCount()).toBe(0)
      const [socket] = await connected
      socket.resume()
      if (!socket.destroyed) await once(socket, 'close')
    })

    test('a socket that cannot be connected to for an unknown reason counts as held', async () => {
      await symlink('00000007.sock', `${run}/00000007.sock`)
      expect((await refusal()).message).toBe(`${path} is in use by another process`)
    })
  })

  test('dead sockets are removed once the lock is taken, and no other file is', async () => {
    const names = ['00000001.sock', 'other.sock', '00000002.sock']
    for (const name of names) await createDead(name)
    const others = ['00000003.sock', 'notes.txt']
    for (const name of others) await writeFile(`${run}/${name}`, '')
    await symlink('nothing', `${run}/00000004.sock`)
    await listen('live.sock')
    expect(await readdir(run)).toHaveLength(7)
    await take()
    const left = await readdir(run)
    expect(left.toSorted().filter((name) => name !== ownName(left))).toEqual([
      '00000003.sock',
      '00000004.sock',
      'live.sock',
      'notes.txt',
      'other.sock',
    ])
  })

  test.each(['1.sock', 'x00000001.sock', '00000001.sockx', 'other.sock'])('a live socket named %s is not a holder', async (name) => {
    await listen(name)
    await take()
    expect(await readdir(run)).toHaveLength(2)
  })

  test('the folder is private before the socket exists', async () => {
    const events: string[] = []
    const { chmod } = fs
    closers.push(
      replaceBuiltin(fs, 'chmod', async (...args: Parameters<typeof chmod>) => {
        for (let turns = 0; turns < 20; turns++) await turn()
        await chmod(...args)
        events.push(`mode ${(args[1] as number).toString(8)}, files: ${(await readdir(run)).length}`)
      }),
    )
    await take()
    expect([events, await readdir(run)]).toEqual([['mode 700, files: 0'], [expect.stringMatching(SOCKET)]])
  })

  test('the name of the socket is a random number of 8 digits', async () => {
    const limits: unknown[] = []
    const randomInt = (limit: number) => (limits.push(limit), 5)
    closers.push(replaceBuiltin(crypto, 'randomInt', randomInt as typeof crypto.randomInt))
    await take()
    expect([limits, await readdir(run)]).toEqual([[100_000_000], ['00000005.sock']])
  })

  test('the folder of the sockets is created first if it is missing', async () => {
    await rm(run, { recursive: true })
    const { mkdir: create } = fs
    const slow = async (...args: unknown[]): Promise<undefined> => {
      for (let turns = 0; turns < 20; turns++) await turn()
      await create(...(args as Parameters<typeof create>))
    }
    closers.push(replaceBuiltin(fs, 'mkdir', slow as typeof create))
    await take()
    expect(await readdir(run)).toHaveLength(1)
  })

  test('a path through a file is an error', async () => {
    await writeFile(`${path}/file`, '')
    await expect(lockFolder(`${path}/file`, () => undefined)).rejects.toMatchObject({ code: 'ENOTDIR', syscall: 'lstat' })
  })

  describe('the removal of dead sockets', () => {
    test('it is over when the lock is taken', async () => {
      await createDead('00000001.sock')
      const { unlink } = fs
      closers.push(
        replaceBuiltin(fs, 'unlink', async (file) => {
          for (let turns = 0; turns < 20; turns++) await turn()
          await unlink(file)
        }),
      )
      await take()
      expect(await readdir(run)).toHaveLength(1)
    })

    test('it may fail', async () => {
      await createDead('00000001.sock')
      closers.push(replaceBuiltin(fs, 'unlink', () => Promise.reject(new Error('refused'))))
      await take()
      expect(await readdir(run)).toHaveLength(2)
    })

    test('it leaves the socket of a rival that began to listen last', async () => {
      const { access } = fs
      closers.push(
        replaceBuiltin(fs, 'access', async (...args: Parameters<typeof access>) => {
          await listen('00000009.sock')
          return access(...args)
        }),
      )
      await take()
      expect(await readdir(run)).toContain('00000009.sock')
    })
  })

  describe('several processes that begin at the same time', () => {
    /** the delays in milliseconds, and where each is over */
    let delays: (number | 'over' | 'listen')[]
    let beforeWaiting: () => unknown
    beforeEach(() => {
      delays = []
      beforeWaiting = () => undefined
      vi.spyOn(Math, 'random').mockReturnValue(0.5)
      closers.push(
        replaceDelays(async (milliseconds) => {
          beforeWaiting()
          delays.push(milliseconds)
          // Long enough for the next attempt, if it did not wait.
          await new Promise((resolve) => setTimeout(resolve, 20))
          delays.push('over')
        }),
      )
    })
    /** Replaces what servers of the process under test do to listen. Those of tests listen on a string. */
    const onListen = (replacement: (server: Server, socket: string, original: () => void) => void) => {
      const { listen: original } = Server.prototype as { listen: (...args: unknown[]) => Server }
      vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
        const [address] = args as [string | { path: string }]
        if (typeof address === 'string') return original.apply(this, args)
        replacement(this, address.path, () => original.apply(this, args))
        return this
      })
    }

    test('a process that finds a rival beside it gives up five times, and waits longer each time', async () => {
      const rivals: Server[] = []
      let own: string[] = []
      // A rival listens after this process has found no holder, and ends before its next attempt.
      onListen((server, socket, original) => {
        own = [...own, socket]
        const pid = rivals.length
        rivals.push(createServer((connection) => connection.end(`{"pid":${pid},"since":"now"}\n`)))
        rivals[pid]!.listen(`${run}/0000000${pid}.sock`, original)
        void server
      })
      beforeWaiting = () => rivals.at(-1)!.close()
      const error = await refusal()
      rivals.at(-1)!.close()
      expect([error.socket, error.holder]).toEqual([`${run}/00000004.sock`, { pid: 4, since: 'now' }])
      expect([rivals.length, new Set(own).size]).toEqual([5, 5])
      expect(delays).toEqual([25, 'over', 50, 'over', 75, 'over', 100, 'over'])
      expect(await readdir(run)).toEqual([])
    })

    test('a process whose socket exists already tries others, five times', async () => {
      const sockets: string[] = []
      onListen((server, socket) => {
        sockets.push(socket)
        delays.push('listen')
        writeFileSync(socket, '')
        setImmediate(() => server.emit('error', Object.assign(new Error('in use'), { code: 'EADDRINUSE' })))
      })
      const error = await refusal()
      expect([error.socket, error.holder, sockets.length]).toEqual([sockets[4], undefined, 5])
      expect(new Set(sockets).size).toBe(5)
      const waits = [25, 50, 75, 100].flatMap((milliseconds) => [milliseconds, 'over', 'listen'])
      expect(delays).toEqual(['listen', ...waits])
    })

    test('a socket that cannot be created for another reason is an error', async () => {
      onListen((server) => setImmediate(() => server.emit('error', Object.assign(new Error('refused'), { code: 'EACCES' }))))
      await expect(take()).rejects.toThrow('refused')
    })
  })
})
