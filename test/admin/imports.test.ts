import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../src/app.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { exportWorkspace } from '../../src/admin/export.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import type { CommandIo, AdminDeps } from '../../src/admin/deps.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { keys } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { createHash } from 'node:crypto'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { cheapPasswords } from '../support/service.ts'
import { quiet } from '../support/log.ts'

const clock = () => Date.parse('2026-11-20T12:00:00.000Z')
const silent = { progress: () => undefined, write: async () => undefined }

/** Lines of which somebody else says when they go on. */
function held(lines: readonly string[], at: number): CommandIo & { readonly reached: Promise<void>; goOn(): void } {
  let reach!: () => void
  let goOn!: () => void
  const reached = new Promise<void>((resolve) => (reach = resolve))
  const going = new Promise<void>((resolve) => (goOn = resolve))
  async function* some(): AsyncGenerator<string> {
    yield* lines.slice(0, at)
    reach()
    await going
    yield* lines.slice(at)
  }
  return { ...silent, lines: some(), reached, goOn }
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
const talk = (lines: readonly string[]): CommandIo => ({ ...silent, lines: each(lines) })

/** Lines with the last one that fits them. */
function ended(lines: readonly string[]): string[] {
  const hash = createHash('sha256')
  for (const line of lines) hash.update(line).update('\n')
  return [...lines, JSON.stringify({ end: true, lines: lines.length, sha256: hash.digest('hex') })]
}

describe.each(drivers)('imports, on $name', (driver) => {
  let place: OpenDriver
  let tools: AdminDeps
  let lines: string[]
  let workspaceId: string
  beforeEach(async () => {
    const source = await drivers[0]!.open()
    const from: AdminDeps = { ...source, clock, random: systemRandom }
    const app = createApp({ ...from, log: quiet, passwords: cheapPasswords })
    const demo = await seedDemo({ ...from, passwords: cheapPasswords }, app.fetch, readWorld())
    workspaceId = demo.workspaces[0]!.id
    lines = []
    await exportWorkspace(from, workspaceId, { ...silent, lines: each([]), write: async (line) => void lines.push(line) })
    place = await driver.open()
    tools = { ...place, clock, random: systemRandom }
  })
  afterEach(async () => {
    await place.store.close()
    await place.blobs.close()
  })
  const stored = async () => {
    const out: string[] = []
    await exportWorkspace(tools, workspaceId, { ...silent, lines: each([]), write: async (line) => void out.push(line) })
    return out
  }
  const left = async () => [
    ...(await place.recordKeys(workspaceId)).filter((key) => key !== keys.importing()),
    ...(await place.blobKeys()).filter((key) => key.startsWith('blb_')),
  ]

  test.each([3, 60, 150])('a second one that is whole wins over one that goes on since line %i', async (at) => {
    const slow = held(lines, at)
    const first = importWorkspace(tools, slow)
    await slow.reached
    await importWorkspace(tools, talk(lines))
    slow.goOn()
    await expect(first).rejects.toMatchObject({ code: 'conflict' })
    expect(await stored()).toEqual(lines)
    expect((await listWorkspaces(tools)).map(({ id }) => id)).toEqual([workspaceId])
  })

  test('a second one that is broken leaves nothing, and no half of the first', async () => {
    const slow = held(lines, 150)
    const first = importWorkspace(tools, slow)
    await slow.reached
    await expect(importWorkspace(tools, talk(lines.slice(0, 50)))).rejects.toMatchObject({ code: 'invalid' })
    slow.goOn()
    await expect(first).rejects.toMatchObject({ code: 'conflict' })
    expect(await listWorkspaces(tools)).toEqual([])
    expect(await left()).toEqual([])
  })

  test('one that is refused for what is in it leaves no record and no bytes', async () => {
    await expect(importWorkspace(tools, talk(ended([...lines.slice(0, -1), '{"key":"nonsense:x","value":{}}'])))).rejects.toThrow(
      'no record "nonsense"',
    )
    expect(await left()).toEqual([])
    await importWorkspace(tools, talk(lines))
    expect(await stored()).toEqual(lines)
  })

  const record = (key: string, value: object) => JSON.stringify({ key, value })
  const times = { created_at: 'x', updated_at: 'x' }
  test.each<[string, (head: string, id: string) => string[], RegExp]>([
    ['a head alone', (head) => [head], /has no record of wsp_/],
    [
      'another workspace',
      (head) => [head, record('workspace:self', { id: 'wsp_00000000000000000000', name: 'x', ...times })],
      /has no record of/,
    ],
    ['a head of another kind', (head, id) => [head.replace(id, 'usr_00000000000000000000')], /no id of a workspace/],
    ['a card that is none', (head) => [head, record('card:crd_00000000000000000000', {})], /card:crd_0+: /],
    [
      'a role that is none',
      (head) => [
        head,
        record('membership:usr_1', { user_id: 'usr_1', role: 'king', display_name: 'x', avatar_url: null, joined_at: 'x', ended_at: null }),
      ],
      /role/,
    ],
    [
      'a record under the key of another',
      (head) => [head, record('label:lbl_1', { id: 'lbl_2', board_id: 'x', name: 'x', ...times })],
      /key of another/,
    ],
    ['a name of the prototype', (head) => [head, record('constructor:x', {})], /no record "constructor"/],
    ['a record of an import', (head) => [head, record('importing:self', { id: 'x' })], /no record "importing"/],
    ['a person without a name', (head) => [head, '{"user":{"id":"usr_00000000000000000000"}}'], /is no person/],
    ['a person of another kind', (head) => [head, '{"user":{"id":"brd_00000000000000000000","display_name":"x"}}'], /is no person/],
    ['bytes without their end', (head) => [head, '{"bytes":"AAAA","blob_id":"blb_00000000000000000000","last":false}'], /are not whole/],
  ])('%s is no workspace', async (_what, make, message) => {
    await expect(importWorkspace(tools, talk(ended(make(lines[0]!, workspaceId))))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
    expect(await listWorkspaces(tools)).toEqual([])
    expect(await left()).toEqual([])
  })

  test('what stands behind the end is not passed over', async () => {
    await expect(importWorkspace(tools, talk([...lines, ...lines]))).rejects.toThrow('behind the end')
  })

  test('an export fails where bytes are missing, and goes without a file that the sweep took away', async () => {
    await importWorkspace(tools, talk(lines))
    const [blob] = (await place.blobKeys()).filter((key) => key.startsWith('blb_')).map((key) => key.split(':')[0]!)
    await place.blobs.remove(blob!)
    await expect(stored()).rejects.toThrow(/bytes of fil_\w+ cannot be read/)
    const file = lines.map((line) => JSON.parse(line)).find(({ value }) => value?.blob_id === blob && value.owner_id)!
    const work = { ...tools, blobs: { ...place.blobs, read: sweepFirst } }
    async function* sweepFirst(id: string, start: number, end: number): AsyncGenerator<Uint8Array> {
      if (id === blob)
        await transact(
          tools.store,
          workspaceId,
          systemRandom,
          async (tx) => (await tx.get(keys.file(file.value.id)), tx.remove(keys.file(file.value.id))),
        )
      yield* place.blobs.read(id, start, end)
    }
    const out: string[] = []
    await exportWorkspace(work, workspaceId, { ...silent, lines: each([]), write: async (line) => void out.push(line) })
    expect(out.some((line) => line.includes(blob!))).toBe(false)
  })

  test('bytes that another workspace has are not written over', async () => {
    await importWorkspace(tools, talk(lines))
    const other = lines[0]!.replace(workspaceId, 'wsp_00000000000000000000')
    const bytes = lines.find((line) => line.startsWith('{"bytes"'))!
    await expect(importWorkspace(tools, talk(ended([other, bytes])))).rejects.toMatchObject({ code: 'conflict' })
    expect(await stored()).toEqual(lines)
  })
})
