import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CommandIo, AdminDeps } from '../../src/admin/deps.ts'
import { exportWorkspace } from '../../src/admin/export.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { createApp } from '../../src/app.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { keys } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'
import { cheapPasswords } from '../support/service.ts'

const clock = () => Date.parse('2026-11-20T12:00:00.000Z')
const silent = { progress: () => undefined, write: async () => undefined }

/** Input that stops at a line until `resume` is called. `reached` resolves when it stops. */
function pausedInput(lines: readonly string[], at: number): CommandIo & { readonly reached: Promise<void>; resume(): void } {
  let reach!: () => void
  let resume!: () => void
  const reached = new Promise<void>((resolve) => (reach = resolve))
  const resumed = new Promise<void>((resolve) => (resume = resolve))
  async function* generate(): AsyncGenerator<string> {
    yield* lines.slice(0, at)
    reach()
    await resumed
    yield* lines.slice(at)
  }
  return { ...silent, lines: generate(), reached, resume }
}

async function* generate(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}
const input = (lines: readonly string[]): CommandIo => ({ ...silent, lines: generate(lines) })

/** Appends the trailer of an export to its lines. */
function withTrailer(lines: readonly string[]): string[] {
  const hash = createHash('sha256')
  for (const line of lines) hash.update(line).update('\n')
  return [...lines, JSON.stringify({ end: true, lines: lines.length, sha256: hash.digest('hex') })]
}

describe.each(drivers)('imports on $name', (driver) => {
  let opened: OpenDriver
  let deps: AdminDeps
  let lines: string[]
  let workspaceId: string
  beforeEach(async () => {
    const source = await drivers[0]!.open()
    const sourceDeps: AdminDeps = { ...source, clock, random: systemRandom }
    const app = createApp({ ...sourceDeps, log: quiet, passwords: cheapPasswords })
    const demo = await seedDemo({ ...sourceDeps, passwords: cheapPasswords }, app.fetch, readWorld())
    workspaceId = demo.workspaces[0]!.id
    lines = []
    await exportWorkspace(sourceDeps, workspaceId, { ...silent, lines: generate([]), write: async (line) => void lines.push(line) })
    opened = await driver.open()
    deps = { ...opened, clock, random: systemRandom }
  })
  afterEach(async () => {
    await opened.store.close()
    await opened.blobs.close()
  })
  const exported = async () => {
    const written: string[] = []
    await exportWorkspace(deps, workspaceId, { ...silent, lines: generate([]), write: async (line) => void written.push(line) })
    return written
  }
  const remainingKeys = async () => [
    ...(await opened.recordKeys(workspaceId)).filter((key) => key !== keys.importing()),
    ...(await opened.blobKeys()).filter((key) => key.startsWith('blb_')),
  ]

  test.each([3, 60, 150])('an import that is paused at line %i fails if a second import completes', async (at) => {
    const slow = pausedInput(lines, at)
    const first = importWorkspace(deps, slow)
    await slow.reached
    await importWorkspace(deps, input(lines))
    slow.resume()
    await expect(first).rejects.toMatchObject({ code: 'conflict' })
    expect(await exported()).toEqual(lines)
    expect((await listWorkspaces(deps)).map(({ id }) => id)).toEqual([workspaceId])
  })

  test('an import fails and leaves no records if a second import begins and fails', async () => {
    const slow = pausedInput(lines, 150)
    const first = importWorkspace(deps, slow)
    await slow.reached
    await expect(importWorkspace(deps, input(lines.slice(0, 50)))).rejects.toMatchObject({ code: 'invalid' })
    slow.resume()
    await expect(first).rejects.toMatchObject({ code: 'conflict' })
    expect(await listWorkspaces(deps)).toEqual([])
    expect(await remainingKeys()).toEqual([])
  })

  test('an import of an invalid record leaves no records and no bytes', async () => {
    await expect(importWorkspace(deps, input(withTrailer([...lines.slice(0, -1), '{"key":"nonsense:x","value":{}}'])))).rejects.toThrow(
      'unknown kind of record "nonsense"',
    )
    expect(await remainingKeys()).toEqual([])
    await importWorkspace(deps, input(lines))
    expect(await exported()).toEqual(lines)
  })

  const record = (key: string, value: object) => JSON.stringify({ key, value })
  const times = { created_at: 'x', updated_at: 'x' }
  test.each<[string, (head: string, id: string) => string[], RegExp]>([
    ['only a header', (head) => [head], /has no record of wsp_/],
    [
      'the record of another workspace',
      (head) => [head, record('workspace:self', { id: 'wsp_00000000000000000000', name: 'x', ...times })],
      /has no record of/,
    ],
    ['a header with the id of a user', (head, id) => [head.replace(id, 'usr_00000000000000000000')], /not the id of a workspace/],
    ['an invalid card', (head) => [head, record('card:crd_00000000000000000000', {})], /card:crd_0+: /],
    [
      'an invalid role',
      (head) => [
        head,
        record('membership:usr_1', { user_id: 'usr_1', role: 'king', display_name: 'x', avatar_url: null, joined_at: 'x', ended_at: null }),
      ],
      /role/,
    ],
    [
      'a record under the key of another record',
      (head) => [head, record('label:lbl_1', { id: 'lbl_2', board_id: 'x', name: 'x', ...times })],
      /is not the key of its record/,
    ],
    ['a kind that is a property of every object', (head) => [head, record('constructor:x', {})], /unknown kind of record "constructor"/],
    ['the record of an import in progress', (head) => [head, record('importing:self', { id: 'x' })], /unknown kind of record "importing"/],
    ['a user without a name', (head) => [head, '{"user":{"id":"usr_00000000000000000000"}}'], /is not a valid user/],
    [
      'a user with the id of a board',
      (head) => [head, '{"user":{"id":"brd_00000000000000000000","display_name":"x"}}'],
      /is not a valid user/,
    ],
    ['incomplete bytes', (head) => [head, '{"bytes":"AAAA","blob_id":"blb_00000000000000000000","last":false}'], /are incomplete/],
  ])('an export with %s is refused', async (_case, make, message) => {
    await expect(importWorkspace(deps, input(withTrailer(make(lines[0]!, workspaceId))))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
    expect(await listWorkspaces(deps)).toEqual([])
    expect(await remainingKeys()).toEqual([])
  })

  test('an export with lines after its end is refused', async () => {
    await expect(importWorkspace(deps, input([...lines, ...lines]))).rejects.toThrow('follows the end of the export')
  })

  test('an export fails if the bytes of a file are missing, and omits a file that is removed meanwhile', async () => {
    await importWorkspace(deps, input(lines))
    const [blob] = (await opened.blobKeys()).filter((key) => key.startsWith('blb_')).map((key) => key.split(':')[0]!)
    await opened.blobs.remove(blob!)
    await expect(exported()).rejects.toThrow(/bytes of fil_\w+ cannot be read/)
    const file = lines.map((line) => JSON.parse(line)).find(({ value }) => value?.blob_id === blob && value.owner_id)!
    const depsWithRemoval = { ...deps, blobs: { ...opened.blobs, read: removeAndRead } }
    async function* removeAndRead(id: string, start: number, end: number): AsyncGenerator<Uint8Array> {
      if (id === blob)
        await transact(
          deps.store,
          workspaceId,
          systemRandom,
          async (tx) => (await tx.get(keys.file(file.value.id)), tx.remove(keys.file(file.value.id))),
        )
      yield* opened.blobs.read(id, start, end)
    }
    const written: string[] = []
    await exportWorkspace(depsWithRemoval, workspaceId, { ...silent, lines: generate([]), write: async (line) => void written.push(line) })
    expect(written.some((line) => line.includes(blob!))).toBe(false)
  })

  test('an import does not overwrite the bytes of another workspace', async () => {
    await importWorkspace(deps, input(lines))
    const other = lines[0]!.replace(workspaceId, 'wsp_00000000000000000000')
    const bytes = lines.find((line) => line.startsWith('{"bytes"'))!
    await expect(importWorkspace(deps, input(withTrailer([other, bytes])))).rejects.toMatchObject({ code: 'conflict' })
    expect(await exported()).toEqual(lines)
  })
})
