import { execFile } from 'node:child_process'
import { readdir, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statusesOf } from '../support/accepted-tokens.ts'
import { CommandHost, main, runCommandLine, startService, type StartedService } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { newFolder, ownProcess } from '../support/run.ts'

const accountStatus = async (url: string, token: string) =>
  (await fetch(`${url}/v1/account`, { headers: { authorization: `Bearer ${token}` } })).status

describe.each(['fs with a running service', 'fs without a running service', 'redis with a running service'])(
  'administration commands on %s',
  (kind) => {
    const folder = newFolder()
    let redis: RedisServer | undefined
    let service: StartedService
    let env: Record<string, string>
    let host: CommandHost
    let acme: string
    let backup: string
    let users: unknown
    /** The environment of an empty storage. */
    const storage = (name: string) => ({ LANEKEEPER_STORAGE: redis === undefined ? `fs:${folder}/${name}` : `${redis.url}/${name.length}` })
    const allTokens = () => service.world.tokens.map(({ token }: { token: string }) => token)

    const run = (...args: string[]) => host.run(args)
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(...args, '--json')
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      return JSON.parse(stdout)
    }
    /** The status of GET /account with each token. */
    const statuses = async (...tokens: string[]) =>
      kind === 'fs without a running service'
        ? statusesOf(env['LANEKEEPER_STORAGE']!, tokens)
        : Promise.all(tokens.map((token) => accountStatus(service.url, token)))

    beforeAll(async () => {
      if (kind.startsWith('redis')) redis = await startRedis()
      env = { LANEKEEPER_STORAGE: redis?.url ?? `fs:${folder}/data` }
      host = new CommandHost(env)
      service = await startService(['--demo'], env)
      acme = service.world.workspaces[0].id
      if (kind === 'fs without a running service') await service.stop()
      backup = join(folder, 'backup.jsonl')
      const result = await host.run(['backup', '--out', backup, '--json'])
      expect(result).toMatchObject({ code: 0, stdout: '' })
      expect(JSON.parse(result.stderr.trimEnd().split('\n').at(-1)!)).toMatchObject({
        workspaces: 2,
        users: 8,
        lost: 0,
        lost_workspaces: [],
      })
      users = await json('user', 'list')
    })
    afterAll(async () => {
      await service.stop()
      await redis?.stop()
    })

    test('the list commands print workspaces, users, members and tokens', async () => {
      expect((await json('workspace', 'list')).map(({ name }: any) => name)).toEqual(['Acme', 'Globex'])
      expect(users).toHaveLength(8)
      const members = await json('member', 'list', acme)
      expect(members.map(({ role }: any) => role).toSorted()).toEqual(['admin', 'member', 'member', 'member', 'owner'])
      const tokens = await json('token', 'list', acme)
      expect(tokens.map(({ state }: any) => state)).toEqual(Array.from({ length: 15 }, () => 'active'))
      expect(JSON.stringify(tokens)).not.toMatch(/hash|lk_pat_/)
      expect((await run('workspace', 'list')).stdout).toMatch(/^id +name +created_at.*\nwsp_\w+ +Acme/)
    })

    test('a member is added, gets another role and is removed', async () => {
      const workspace = await json('workspace', 'create', 'Initech')
      const user = await json('user', 'add', 'Peter Gibbons', '--avatar', 'https://example.org/p.png')
      expect(await json('member', 'add', workspace.id, user.id, '--role', 'owner')).toMatchObject({ role: 'owner', ended_at: null })
      expect(await json('member', 'set-role', workspace.id, user.id, 'member')).toMatchObject({ role: 'member' })
      expect(await json('member', 'list', workspace.id)).toMatchObject([
        { user_id: user.id, role: 'member', display_name: 'Peter Gibbons' },
      ])
      expect(await json('member', 'remove', workspace.id, user.id)).toEqual({ user_id: user.id, removed: true })
      expect(await json('member', 'list', workspace.id)).toEqual([])
      expect(await run('member', 'remove', workspace.id, user.id)).toMatchObject({ code: 3 })
    })

    test('a revoked token fails at its next request, and other tokens keep working', async () => {
      const [first, second] = service.world.tokens
      const tokens = await json('token', 'list', acme, '--user', first.user_id)
      const { id } = tokens.find(({ scopes }: any) => scopes[0] === first.scopes[0])
      expect(await json('token', 'revoke', acme, id)).toMatchObject({ id, state: 'revoked' })
      expect(await statuses(first.token, second.token)).toEqual([401, 200])
    })

    test('only the owner can read the file of an export, and no file is replaced', async () => {
      const out = join(folder, 'acme.jsonl')
      const result = await run('export', acme, '--out', out)
      expect(result).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/records +\d+/) })
      expect((await stat(out)).mode & 0o777).toBe(0o600)
      expect(await run('export', acme, '--out', out)).toMatchObject({ code: 3, stderr: expect.stringContaining('already exists') })
      expect(await readdir(folder)).not.toContain('acme.jsonl.partial')
    })

    test('a service on a restored storage accepts the same tokens, and a second restore is refused', async () => {
      const target = storage('restored')
      const restored = await host.run(['restore', backup], target)
      expect(restored).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/^workspaces +2\nusers +8\n/m) })
      expect(await statusesOf(target.LANEKEEPER_STORAGE, allTokens())).toEqual(
        service.world.tokens.map(({ state }: { state: string }) => (state === 'left' ? 401 : 200)),
      )
      expect(await host.run(['restore', backup], target)).toMatchObject({ code: 3, stderr: expect.stringContaining('not empty') })
      expect(JSON.parse((await host.run(['user', 'list', '--json'], target)).stdout)).toEqual(users)
    })

    test('a running service without data serves a backup that is restored to its storage', async () => {
      const target = storage('a running one')
      const running = await startService([], target)
      expect(await host.run(['restore', backup], target)).toMatchObject({ code: 0 })
      expect(await accountStatus(running.url, service.world.tokens[0].token)).toBe(200)
      await running.stop()
    })

    test('after a restore was killed, neither a service nor a command runs on the storage until it is restored', async () => {
      const target = storage('interrupted')
      const child = ownProcess(execFile(process.execPath, [main, 'restore'], { env: { PATH: process.env['PATH'], ...target } as never }))
      const ended = new Promise((resolve) => child.on('close', resolve))
      const lines = (await readFile(backup, 'utf8')).split('\n')
      child.stdin!.write(`${lines.slice(0, 250).join('\n')}\n`)
      // The process has begun when its storage refuses commands. Meanwhile it does not exist, or is empty.
      const list = () => host.run(['workspace', 'list', '--json'], target)
      for (let result = await list(); !result.stderr.includes('has not finished'); result = await list()) {
        if (result.code === 0) expect(result.stdout).toBe('[]\n')
        // The process needs the processor to start.
        await delay(100)
      }
      child.kill('SIGKILL')
      await ended
      expect(await list()).toMatchObject({ code: 3, stderr: expect.stringContaining('run "restore" again') })
      expect(await host.run(['serve'], target)).toMatchObject({ code: 3, stderr: expect.stringContaining('has not finished') })
      expect((await host.run(['restore', backup], target)).code).toBe(0)
      expect((await statusesOf(target.LANEKEEPER_STORAGE, allTokens())).filter((status) => status === 200).length).toBeGreaterThan(10)
    })
  },
)

describe('a command without a usable storage', () => {
  const host = new CommandHost({})

  test('memory is refused', async () => {
    expect(await runCommandLine(['user', 'list'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot reach the memory of another process'),
    })
  })
  test('a list command does not create a missing folder', async () => {
    const result = await host.run(['user', 'list', '--storage', `fs:${tmpdir()}/lanekeeper-missing`])
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('there is no Lanekeeper data') })
    expect(await readdir(tmpdir())).not.toContain('lanekeeper-missing')
  })
  test.each(['', 'nonsense', 'fs:', 'http://x', 'redis:x'])('the invalid address %j is refused', async (storage) => {
    expect(await host.run(['user', 'list', '--storage', storage])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^storage: invalid address/),
    })
  })
})

describe('an invalid command', () => {
  const host = new CommandHost({ LANEKEEPER_STORAGE: `fs:${newFolder()}/data` })
  let acme: string
  beforeAll(async () => {
    acme = JSON.parse((await host.run(['workspace', 'create', 'Acme', '--json'])).stdout).id
  })

  test.each<[string[], number, RegExp]>([
    [['member', 'list', 'wsp_nonsense'], 3, /there is no workspace wsp_nonsense/],
    [['member', 'add', 'WORKSPACE', 'usr_nonsense'], 3, /there is no user usr_nonsense/],
    [['member', 'add', 'WORKSPACE', 'usr_nonsense', '--role', 'king'], 2, /role/],
    [['token', 'revoke', 'WORKSPACE', '__proto__'], 3, /there is no token __proto__/],
    [['workspace', 'create', ''], 2, /name: must not be blank/],
    [['user', 'add', 'X', '--avatar', 'http://plain.example'], 2, /avatar/],
    [['user', 'add', 'a', 'b'], 2, /too many arguments/],
    [['nonsense'], 2, /unknown command "nonsense"/],
    [['import', '/nonexistent/file'], 2, /no such file/],
    [['export', 'WORKSPACE', '--out', '/nonexistent/file'], 2, /no such file/],
    [['user', 'sign-out', 'usr_nonsense'], 3, /there is no user/],
  ])('%j is reported in one line', async (args, code, message) => {
    const result = await host.run(args.map((argument) => (argument === 'WORKSPACE' ? acme : argument)))
    expect({ code: result.code, stdout: result.stdout, stderrLines: result.stderr.trimEnd().split('\n').length }).toEqual({
      code,
      stdout: '',
      stderrLines: 1,
    })
    expect(result.stderr).toMatch(message)
  })
})
