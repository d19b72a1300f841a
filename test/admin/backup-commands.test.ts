import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { statusesOf } from '../support/accepted-tokens.ts'
import { blockOf } from '../support/documents.ts'
import { CommandHost, runScript, startService } from '../support/process.ts'
import { newFolder } from '../support/run.ts'

test('the commands of the page that make a backup and restore it work', async () => {
  const block = blockOf('src/admin/README.md', 'backup --storage fs:./data')
  const folder = newFolder()
  const service = await startService(['--demo'], { LANEKEEPER_STORAGE: `fs:${folder}/data` })
  await runScript(block, folder)
  expect((await readdir(folder)).toSorted()).toEqual(['backup.jsonl', 'backup.jsonl.gz', 'data', 'other', 'restored'])
  await service.stop()
  for (const name of ['restored', 'other']) expect((await statusesOf(`fs:${folder}/${name}`, [service.world.tokens[0].token]))[0]).toBe(200)
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
