import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statusesOf } from '../support/accepted-tokens.ts'
import { blockOf, SHELL_FUNCTIONS } from '../support/documents.ts'
import { CommandHost, main, requireBuild, runCommandLine, startProcess, type RunningProcess } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { ownProcess } from '../support/run.ts'

const accountStatus = async (url: string, token: string) =>
  (await fetch(`${url}/v1/account`, { headers: { authorization: `Bearer ${token}` } })).status

const plaintexts = (tokens: readonly { token: string }[]) => tokens.map(({ token }) => token)

describe.each(['fs with a running service', 'fs without a running service', 'redis with a running service'])(
  'backup commands on %s',
  (kind) => {
    let folder: string
    let redis: RedisServer | undefined
    let service: RunningProcess
    let host: CommandHost
    let world: any
    let backup: string
    /** The environment of an empty storage. */
    const storage = (name: string) => ({ LANEKEEPER_STORAGE: redis === undefined ? `fs:${folder}/${name}` : `${redis.url}/${name.length}` })

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'lanekeeper-cli-'))
      if (kind.startsWith('redis')) redis = await startRedis()
      host = new CommandHost(storage('data'))
      service = startProcess(['--json', '--demo'], storage('data'))
      world = JSON.parse(await service.until('\n'))
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
    })
    afterAll(async () => {
      host.stop()
      await service.stop()
      await redis?.stop()
      await rm(folder, { recursive: true })
    })

    test('a backup to a file and to stdout is the same, and only the owner can read the file', async () => {
      expect((await stat(backup)).mode & 0o777).toBe(0o600)
      const { stdout } = await runCommandLine(['backup'], storage('data'))
      const [written, piped] = [await readFile(backup, 'utf8'), stdout].map((text) => text.trimEnd().split('\n').slice(1, -1))
      expect(piped).toEqual(written)
      expect(await host.run(['backup', '--out', backup])).toMatchObject({ code: 3, stderr: expect.stringContaining('already exists') })
      expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([])
    })

    test('a service on a restored storage accepts the same tokens, and a second restore is refused', async () => {
      const target = storage('restored')
      const restored = await host.run(['restore', backup], target)
      expect(restored).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/^workspaces +2\nusers +8\n/m) })
      expect(await statusesOf(target.LANEKEEPER_STORAGE, plaintexts(world.tokens))).toEqual(
        world.tokens.map(({ state }: { state: string }) => (state === 'left' ? 401 : 200)),
      )
      expect(await host.run(['restore', backup], target)).toMatchObject({ code: 3, stderr: expect.stringContaining('not empty') })
      const read = async (env: Record<string, string>) => JSON.parse((await host.run(['user', 'list', '--json'], env)).stdout)
      expect(await read(target)).toEqual(await read(storage('data')))
    })

    test('a running service without data serves what is restored to its storage', async () => {
      const target = storage('a running one')
      const running = startProcess(['--json'], target)
      const { url } = JSON.parse(await running.until('\n'))
      expect(await host.run(['restore', backup], target)).toMatchObject({ code: 0 })
      const [first] = world.tokens
      expect(await accountStatus(url, first.token)).toBe(200)
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
      expect(
        (await statusesOf(target.LANEKEEPER_STORAGE, plaintexts(world.tokens))).filter((status) => status === 200).length,
      ).toBeGreaterThan(10)
    })
  },
)

describe('backup commands', () => {
  test('the commands of the page that make a backup and restore it work', async () => {
    requireBuild()
    const block = blockOf('src/admin/README.md', 'backup --storage fs:./data')
    const folder = await mkdtemp(join(tmpdir(), 'lanekeeper-cli-'))
    const service = startProcess(['--json', '--demo'], { LANEKEEPER_STORAGE: `fs:${folder}/data` })
    const { tokens } = JSON.parse(await service.until('\n'))
    const script = `${SHELL_FUNCTIONS}${block}`
    const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main } as unknown as NodeJS.ProcessEnv
    await promisify(execFile)('bash', ['-euc', script], { cwd: folder, env })
    expect((await readdir(folder)).toSorted()).toEqual(['backup.jsonl', 'backup.jsonl.gz', 'data', 'other', 'restored'])
    await service.stop()
    for (const name of ['restored', 'other'])
      expect((await statusesOf(`fs:${folder}/${name}`, plaintexts(tokens.slice(0, 1))))[0]).toBe(200)
    await rm(folder, { recursive: true })
  })
})

describe('a folder with lost bytes', () => {
  let folder: string
  let env: Record<string, string>
  const host = new CommandHost({})
  let acme: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lanekeeper-cli-'))
    env = { LANEKEEPER_STORAGE: `fs:${folder}/data` }
    const service = startProcess(['--json', '--demo'], env)
    acme = JSON.parse(await service.until('\n')).workspaces[0].id
    await service.stop()
    const { stdout } = await host.run(['export', acme], env)
    const { value } = JSON.parse(stdout.split('\n').find((line) => line.startsWith('{"key":"file:'))!)
    await rm(`${folder}/data/bytes/${value.blob_id}`, { recursive: true })
  })
  afterAll(async () => {
    host.stop()
    await rm(folder, { recursive: true })
  })

  test.each([
    ['export', 'import', () => ['export', acme]],
    ['backup', 'restore', () => ['backup']],
  ])('%s and %s name a lost file, complete the rest and end with exit code 5', async (command, reverse, args) => {
    const out = join(folder, `${command}.jsonl`)
    const written = await host.run([...args(), '--out', out], env)
    expect(written).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^the bytes of fil_\w+ \(".+", \d+ bytes\) in wsp_\w+ are missing/m),
    })
    expect(written.stderr.trimEnd().split('\n').at(-1)).toBe('done, without what is lost: 1 files and 0 workspaces')
    const target = { LANEKEEPER_STORAGE: `fs:${folder}/${reverse}` }
    const { code, stderr } = await host.run([reverse, out, '--json'], target)
    expect(code).toBe(5)
    expect(JSON.parse(stderr.split('\n').find((line) => line.startsWith('{'))!)).toMatchObject({
      lost: 1,
      lost_files: [{ reason: 'unreadable' }],
    })
    expect((await host.run(['export', acme], target)).code).toBe(0)
  })
})
