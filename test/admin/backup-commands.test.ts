import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statusesOf } from '../support/accepted-tokens.ts'
import { blockOf, SHELL_FUNCTIONS } from '../support/documents.ts'
import { CommandHost, main, requireBuild, startService, type StartedService } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'
import { newFolder, ownProcess } from '../support/run.ts'

const accountStatus = async (url: string, token: string) =>
  (await fetch(`${url}/v1/account`, { headers: { authorization: `Bearer ${token}` } })).status

const plaintexts = (tokens: readonly { token: string }[]) => tokens.map(({ token }) => token)

describe.each(['fs with a running service', 'fs without a running service', 'redis with a running service'])(
  'backup commands on %s',
  (kind) => {
    const folder = newFolder()
    let redis: RedisServer | undefined
    let service: StartedService
    let host: CommandHost
    let backup: string
    /** The environment of an empty storage. */
    const storage = (name: string) => ({ LANEKEEPER_STORAGE: redis === undefined ? `fs:${folder}/${name}` : `${redis.url}/${name.length}` })

    beforeAll(async () => {
      if (kind.startsWith('redis')) redis = await startRedis()
      host = new CommandHost(storage('data'))
      service = await startService(['--demo'], storage('data'))
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
      await service.stop()
      await redis?.stop()
    })

    test('a service on a restored storage accepts the same tokens, and a second restore is refused', async () => {
      const target = storage('restored')
      const restored = await host.run(['restore', backup], target)
      expect(restored).toMatchObject({ code: 0, stdout: '', stderr: expect.stringMatching(/^workspaces +2\nusers +8\n/m) })
      expect(await statusesOf(target.LANEKEEPER_STORAGE, plaintexts(service.world.tokens))).toEqual(
        service.world.tokens.map(({ state }: { state: string }) => (state === 'left' ? 401 : 200)),
      )
      expect(await host.run(['restore', backup], target)).toMatchObject({ code: 3, stderr: expect.stringContaining('not empty') })
      const read = async (env: Record<string, string>) => JSON.parse((await host.run(['user', 'list', '--json'], env)).stdout)
      expect(await read(target)).toEqual(await read(storage('data')))
    })

    test('a running service without data serves what is restored to its storage', async () => {
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
      expect(
        (await statusesOf(target.LANEKEEPER_STORAGE, plaintexts(service.world.tokens))).filter((status) => status === 200).length,
      ).toBeGreaterThan(10)
    })
  },
)

describe('backup commands', () => {
  test('the commands of the page that make a backup and restore it work', async () => {
    requireBuild()
    const block = blockOf('src/admin/README.md', 'backup --storage fs:./data')
    const folder = newFolder()
    const service = await startService(['--demo'], { LANEKEEPER_STORAGE: `fs:${folder}/data` })
    const script = `${SHELL_FUNCTIONS}${block}`
    const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main } as unknown as NodeJS.ProcessEnv
    await promisify(execFile)('bash', ['-euc', script], { cwd: folder, env })
    expect((await readdir(folder)).toSorted()).toEqual(['backup.jsonl', 'backup.jsonl.gz', 'data', 'other', 'restored'])
    await service.stop()
    for (const name of ['restored', 'other'])
      expect((await statusesOf(`fs:${folder}/${name}`, plaintexts(service.world.tokens.slice(0, 1))))[0]).toBe(200)
  })
})

describe('a folder with lost bytes', () => {
  const folder = newFolder()
  const env = { LANEKEEPER_STORAGE: `fs:${folder}/data` }
  const host = new CommandHost(env)
  let acme: string
  beforeAll(async () => {
    const service = await startService(['--demo'], env)
    acme = service.world.workspaces[0].id
    await service.stop()
    const { stdout } = await host.run(['export', acme])
    const { value } = JSON.parse(stdout.split('\n').find((line) => line.startsWith('{"key":"file:'))!)
    await rm(`${folder}/data/bytes/${value.blob_id}`, { recursive: true })
  })

  test.each([
    ['export', 'import', () => ['export', acme]],
    ['backup', 'restore', () => ['backup']],
  ])('%s and %s name a lost file, complete the rest and end with exit code 5', async (command, reverse, args) => {
    const out = join(folder, `${command}.jsonl`)
    const written = await host.run([...args(), '--out', out])
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
