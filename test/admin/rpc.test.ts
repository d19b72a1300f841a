import { connect, createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { AdminError, type AdminDeps, type CommandIo } from '../../src/admin/deps.ts'
import { callRpcServer, RpcServerGone } from '../../src/admin/rpc-client.ts'
import { RpcServer } from '../../src/admin/rpc-server.ts'
import { decorateStore, StorageUnavailable } from '../../src/store/port.ts'
import { lockFolder, type FolderLock } from '../../src/store/fs/lock.ts'
import { TestBoard } from '../support/board.ts'
import { createIo, type TestIo } from '../support/command-io.ts'
import { withTrailer } from '../support/export-lines.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { newFolder } from '../support/run.ts'

/** Lines: the first ones are available, and the others never. `waiting` resolves when the first ones were read. */
function pausedLines(first: readonly string[]): { lines: AsyncGenerator<string>; waiting: Promise<void> } {
  let wait: () => void
  const waiting = new Promise<void>((resolve) => (wait = resolve))
  async function* lines(): AsyncGenerator<string> {
    yield* first
    wait()
    await new Promise(() => undefined)
  }
  return { lines: lines(), waiting }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

let folder: string
beforeEach(() => void (folder = newFolder()))
afterEach(() => void vi.useRealTimers())

describe('administration commands over RPC', () => {
  let service: Service
  let deps: AdminDeps
  let rpcServer: RpcServer
  let lock: FolderLock
  let path: string
  let commands: [string, unknown][]
  let sockets: Socket[]
  beforeEach(async () => {
    service = await Service.start(memory)
    deps = service.adminDeps
    ;[commands, sockets] = [[], []]
    rpcServer = new RpcServer((command, input) => commands.push([command, input]))
    lock = await lockFolder(folder, (socket) => (sockets.push(socket), rpcServer.serve(socket)))
    path = `${folder}/run/service.sock`
  })
  afterEach(async () => {
    for (const socket of sockets) socket.destroy()
    await lock.release()
    await service.stop()
  })
  const call = (command: string, input: unknown, io: CommandIo = createIo()) => callRpcServer(path, command, input, io)
  /** Resolves when the server has no connection. */
  const disconnected = async (): Promise<void> => {
    while (sockets.some(({ destroyed }) => !destroyed)) await nextTurn()
  }
  /** What a client receives until the connection ends. */
  const talk = async (send: (client: Socket) => unknown): Promise<string> => {
    const client = connect(path)
    send(client)
    return text(client)
  }
  /** Creates a workspace with a file of 3 MB. */
  const createContent = async (): Promise<string> => {
    const ann = await service.person(await service.workspace(), 'owner')
    const board = await TestBoard.create(service, ann)
    await board.attach(await board.card(await board.column()), { text: 'x'.repeat(3_000_000) })
    await service.app.services.usage.settled()
    return ann.workspaceId
  }
  /** An export of the service, made in this process. */
  const exportLocally = async (workspace: string): Promise<TestIo> => {
    const io = createIo()
    await runCommand(deps, 'export', { workspace }, io)
    return io
  }

  test('a command has its result, and the observer receives its name and input', async () => {
    rpcServer.open(deps)
    const created = await call('workspace.create', { name: 'Acme' })
    const listed = [{ ...(created as object), file_bytes: 0 }]
    expect(await call('workspace.list', {})).toEqual(listed)
    expect(await runCommand(deps, 'workspace.list', {}, createIo())).toEqual(listed)
    expect(commands).toEqual([
      ['workspace.create', { name: 'Acme' }],
      ['workspace.list', {}],
    ])
  })

  test('a client that connects before the server is open gets its result afterwards', async () => {
    const listed = call('workspace.list', {})
    while (sockets.length === 0) await nextTurn()
    rpcServer.open(deps)
    expect(await listed).toEqual([])
  })

  test.each<[AdminError['code'], string, object]>([
    ['not_found', 'member.list', { workspace: 'wsp_00000000000000000000' }],
    ['invalid', 'workspace.create', { name: '' }],
    ['invalid', 'nonsense', {}],
    ['conflict', 'import', {}],
  ])('an error with the code %s of the command %s is the same as in this process', async (code, command, input) => {
    rpcServer.open(deps)
    const { written } = await exportLocally(await service.workspace())
    const local = await runCommand(deps, command, input, createIo(written)).catch((error: unknown) => error)
    const remote = await call(command, input, createIo(written)).catch((error: unknown) => error)
    expect(local).toBeInstanceOf(AdminError)
    expect({ remote, code: (remote as AdminError).code }).toEqual({ remote: local, code })
    expect(commands).toEqual([])
  })

  test.each<[string, Error]>([
    ['StorageUnavailable', new StorageUnavailable('the disk is full')],
    ['Error', new Error('a defect')],
  ])('a failure of the storage arrives as %s', async (name, failure) => {
    rpcServer.open({ ...deps, store: decorateStore(deps.store, { read: () => Promise.reject(failure) }) })
    const error = await call('workspace.list', {}).catch((reason: unknown) => reason)
    expect({ name: (error as Error).constructor.name, message: (error as Error).message }).toEqual({ name, message: failure.message })
    expect(commands).toEqual([])
  })

  test('an export and an import have the same lines, progress and result as in this process', async () => {
    rpcServer.open(deps)
    const workspace = await createContent()
    const local = await exportLocally(workspace)
    const exporting = createIo()
    const summary = await call('export', { workspace }, exporting)
    expect(exporting.written).toEqual(local.written)
    expect(exporting.reported).toEqual(local.reported)
    expect(local.reported.length).toBeGreaterThan(0)

    const workspace_id = 'wsp_00000000000000000000'
    const importing = createIo(withTrailer(exporting.written.slice(0, -1).map((line) => line.replaceAll(workspace, workspace_id))))
    expect(await call('import', {}, importing)).toEqual({ ...(summary as object), workspace_id })
    expect(importing.reported.at(-1)).toMatch(/^\d+ records, 1 files \(2\.9 MiB\)$/)
  })

  test('the server waits for a slow client and keeps no more than one line for it', async () => {
    rpcServer.open(deps)
    const workspace = await createContent()
    const longest = Math.max(...(await exportLocally(workspace)).written.map((line) => line.length))
    const client = connect(path)
    await once(client, 'connect')
    client.pause()
    client.write(`${JSON.stringify({ command: 'export', input: { workspace } })}\n`)
    while (sockets[0]?.writableNeedDrain !== true) await nextTurn()
    for (let turn = 0; turn < 200; turn++) await nextTurn()
    expect(commands).toEqual([])
    expect(sockets[0].writableLength).toBeLessThan(longest + 1000)
    expect((await text(client.resume())).trimEnd().split('\n').at(-1)).toMatch(/^\{"result":/)
  })

  test('a client that only looks which process holds the folder gets nothing else', async () => {
    rpcServer.open(deps)
    expect(await talk((client) => client.end())).toMatch(/^\{"pid":\d+,"since":"[^"]+"\}\n$/)
  })

  test('a command that is not JSON is an error, and the server continues', async () => {
    rpcServer.open(deps)
    const received = await talk((client) => client.write('nonsense\n'))
    expect(JSON.parse(received.split('\n')[1]!)).toMatchObject({ error: { code: 'failed' } })
    expect(await call('workspace.list', {})).toEqual([])
  })

  test('the lines of a command end where its client says so', async () => {
    rpcServer.open(deps)
    const { written } = await exportLocally(await service.workspace())
    const messages = [
      { command: 'import', input: {} },
      ...written.slice(0, -1).map((line) => ({ line })),
      { end: true },
      { line: written.at(-1) },
    ]
    const sent = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
    expect(await talk((client) => client.write(sent))).toMatch('already exists')
  })

  test('a command whose client leaves before it has sent all lines does not take them for the whole input', async () => {
    rpcServer.open({ ...deps, sendAs: service.adminDeps.sendAs })
    const ann = await service.person(await service.workspace(), 'owner')
    const board = { name: 'Board', description: '', visibility: 'workspace', members: [] }
    const messages = [{ command: 'import.board', input: { workspace: ann.workspaceId, user: ann.id } }, { line: JSON.stringify({ board }) }]
    const sent = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
    await talk((client) => client.end(sent))
    await rpcServer.close()
    expect(commands).toEqual([])
    expect((await service.send(ann.read, 'GET', '/boards')).body.data).toEqual([])
  })

  test.each([
    ['input', 'import'],
    ['output', 'export'],
  ])('an error of the %s is the error of the command, and the server stops the command', async (_direction, command) => {
    rpcServer.open(deps)
    const workspace = await createContent()
    const { written } = await exportLocally(workspace)
    // As if the disk of the client was full. Only a failed read of the socket means a lost connection.
    const failure = Object.assign(new Error('no space left'), { syscall: 'write' })
    async function* lines(): AsyncGenerator<string> {
      yield written[0]!
      throw failure
    }
    await expect(call(command, { workspace }, { ...createIo(), lines: lines(), write: () => Promise.reject(failure) })).rejects.toBe(
      failure,
    )
    await disconnected()
    await rpcServer.close()
    expect(commands).toEqual([])
  })

  test('a server that closes finishes its commands and serves no other client', async () => {
    rpcServer.open(deps)
    const id = await service.workspace()
    const { written } = await exportLocally(id)
    let resume: () => void
    const resumed = new Promise<void>((resolve) => (resume = resolve))
    async function* lines(): AsyncGenerator<string> {
      yield written[0]!.replaceAll(id, 'wsp_00000000000000000000')
      await resumed
      yield 'nonsense'
    }
    const importing = call('import', {}, { ...createIo(), lines: lines() }).catch((error: Error) => error.message)
    while (!(await service.recordKeys('wsp_00000000000000000000')).includes('importing:self')) await nextTurn()
    let closed = false
    const closing = rpcServer.close().then(() => (closed = true))
    await expect(call('workspace.list', {})).rejects.toThrow(StorageUnavailable)
    expect({ closed, commands }).toEqual({ closed: false, commands: [] })
    resume!()
    expect(await importing).toBe('line 2 of the export is not valid JSON')
    await closing
  })

  test('a server that closes disconnects a client after ten seconds, whose command fails', async () => {
    rpcServer.open(deps)
    const id = await service.workspace()
    const { written } = await exportLocally(id)
    const { lines, waiting } = pausedLines([written[0]!.replaceAll(id, 'wsp_00000000000000000000')])
    const importing = call('import', {}, { ...createIo(), lines }).catch((error: unknown) => error)
    await waiting
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closing = rpcServer.close()
    vi.advanceTimersByTime(9_999)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false])
    vi.advanceTimersByTime(1)
    await closing
    expect(await importing).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: false })
    expect(commands).toEqual([])
  })
})

describe('an RPC client', () => {
  let server: Server
  let path: string
  const sockets: Socket[] = []
  const listen = async (serve: (socket: Socket) => void): Promise<void> => {
    server = createServer((socket) => (sockets.push(socket), socket.on('error', () => undefined), serve(socket)))
    path = join(folder, 's.sock')
    server.listen(path)
    await once(server, 'listening')
  }
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const call = (lines: AsyncIterable<string> = createIo().lines) =>
    callRpcServer(path, 'workspace.list', {}, { ...createIo(), lines }).catch((error: unknown) => error)
  const GREETING = '{"pid":1,"since":"2026-11-20T12:00:00.000Z"}\n'

  test('a socket that no process listens on means that the server is gone', async () => {
    await listen(() => undefined)
    path += '-absent'
    expect(await call()).toBeInstanceOf(RpcServerGone)
  })

  test('a server that ends without a greeting is gone', async () => {
    await listen((socket) => void socket.end())
    expect(await call()).toBeInstanceOf(RpcServerGone)
  })

  test('a server that sends no greeting for five seconds does not respond', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await listen(() => undefined)
    const calling = call()
    while (sockets.length === 0) await nextTurn()
    vi.advanceTimersByTime(4_999)
    expect(await Promise.race([calling, nextTurn()])).toBeUndefined()
    vi.advanceTimersByTime(1)
    const error = (await calling) as StorageUnavailable
    expect(error).toBeInstanceOf(StorageUnavailable)
    expect(error.message).toMatch('does not respond')
    // No command was sent, so nothing was changed.
    expect(error.outcomeKnown).toBe(true)
  })

  test.each<[string, (socket: Socket) => void]>([
    ['ends', (socket) => void socket.end()],
    ['closes the connection', (socket) => void socket.destroy()],
    ['sends only progress', (socket) => void socket.end('{"progress":"1 records"}\n')],
  ])('the outcome is unknown when a server %s without a result', async (_case, end) => {
    await listen((socket) => {
      socket.write(GREETING)
      socket.once('data', () => end(socket))
    })
    expect(await call(pausedLines(['x'.repeat(100_000)]).lines)).toMatchObject({ name: 'StorageUnavailable', outcomeKnown: false })
  })

  test('a result that arrives before the input is sent ends the call and the connection', async () => {
    await listen((socket) => {
      socket.resume().write(`${GREETING}{"result":["early"]}\n`)
    })
    expect(await call(pausedLines([]).lines)).toEqual(['early'])
    while (!sockets[0]!.destroyed) await nextTurn()
  })
})
