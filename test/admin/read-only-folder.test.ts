import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, readdir, readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { statusesOf } from '../support/accepted-tokens.ts'
import { CommandHost, runCommandLine, startService } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

const run = promisify(execFile)

/** Mounts a folder read-only, for the process that follows and its children only. */
const MOUNT = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
const isRoot = process.getuid?.() === 0

/** Whether this user may mount a folder. Permissions do not stop root, so nothing else makes a folder read-only for them. */
async function canMount(): Promise<boolean> {
  const folder = newFolder()
  const succeeded = await run('unshare', ['-m', 'sh', '-c', MOUNT, folder, 'true']).then(
    () => true,
    () => false,
  )
  return succeeded
}

const isTestable = !isRoot || (await canMount())
if (!isTestable) console.log('read-only folders are not tested: root needs the permission to mount')

describe.skipIf(!isTestable)('a folder that cannot be written to', () => {
  const folder = newFolder()
  const data = `${folder}/data`
  let acme: string
  let user: string
  /** one of each workspace */
  const tokens: string[] = []
  let before: string
  /** Everything in the folder: names, sizes, times and contents. */
  const fingerprint = async (): Promise<string> => {
    const hash = createHash('sha256')
    for (const entry of (await readdir(data, { recursive: true })).toSorted()) {
      const stats = await stat(`${data}/${entry}`)
      hash.update(`${entry} ${stats.size} ${stats.mtimeMs}`)
      if (stats.isFile()) hash.update(await readFile(`${data}/${entry}`))
    }
    return hash.digest('hex')
  }
  const setWritable = async (writable: boolean): Promise<void> => {
    for (const entry of ['', ...(await readdir(data, { recursive: true }))]) {
      const path = `${data}/${entry}`
      await chmod(path, (await stat(path)).isDirectory() ? (writable ? 0o700 : 0o500) : writable ? 0o600 : 0o400)
    }
  }
  let host: CommandHost
  const command = (...args: string[]) => host.run(args)

  beforeAll(async () => {
    const service = await startService(['--demo'], { LANEKEEPER_STORAGE: `fs:${data}` })
    const { world } = service
    acme = world.workspaces[0].id
    user = world.tokens[0].user_id
    for (const { id } of world.workspaces)
      tokens.push(world.tokens.find(({ workspace_id, state }: any) => workspace_id === id && state === 'active').token)
    // As a machine leaves it that was switched off.
    await service.stop('SIGKILL')
    if (!isRoot) await setWritable(false)
    before = await fingerprint()
    host = new CommandHost(
      { LANEKEEPER_STORAGE: `fs:${data}` },
      isRoot ? ['unshare', '-m', 'sh', '-c', MOUNT, data, process.execPath] : [process.execPath],
    )
  })
  afterAll(async () => {
    host.stop()
    if (!isRoot) await setWritable(true)
  })

  test.each<[string, () => string[], RegExp]>([
    ['workspace list', () => ['workspace', 'list'], /Acme/],
    ['user list', () => ['user', 'list'], /Olivia Stone/],
    ['member list', () => ['member', 'list', acme], /Olivia Stone/],
    ['token list', () => ['token', 'list', acme, '--user', user], /active/],
    ['audit', () => ['audit', acme], /boards\.create/],
    ['export', () => ['export', acme], /"end":true/],
    ['backup', () => ['backup'], /"end":true/],
  ])('%s runs, says that it only reads, and changes nothing', async (_name, args, output) => {
    const { code, stdout, stderr } = await command(...args())
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^the storage cannot be written to, and is opened for reading only \(E/),
    })
    expect(stdout).toMatch(output)
    expect(await fingerprint()).toBe(before)
  })

  test('a backup of it can be restored', async () => {
    const { stdout } = await command('backup')
    const target = { LANEKEEPER_STORAGE: `fs:${folder}/restored` }
    expect((await runCommandLine(['restore'], target, stdout)).code).toBe(0)
    expect(await statusesOf(target.LANEKEEPER_STORAGE, tokens)).toEqual([200, 200])
  })

  test.each([['workspace', 'create', 'Other'], ['user', 'add', 'Other'], ['restore'], ['serve', '--port', '0']])(
    'the command %s is refused and changes nothing',
    async (...args) => {
      const { code, stdout, stderr } = await command(...args)
      expect({ code, stdout, stderr: stderr.trimEnd().split('\n') }).toEqual({
        code: 4,
        stdout: '',
        stderr: [expect.stringMatching(/^E(ROFS|ACCES|PERM)/)],
      })
      expect(await fingerprint()).toBe(before)
    },
  )
})
