import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import { listUsers } from '../../src/admin/users.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import type { FileRecord } from '../../src/model/file.ts'
import type { User } from '../../src/model/workspace.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import { createIo } from '../support/command-io.ts'
import { seedOn } from '../support/demo.ts'
import { drivers } from '../support/drivers.ts'
import { comparableExport, withTrailer } from '../support/export-lines.ts'
import { Service } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

describe.each(drivers)('imports on $name', async (driver) => {
  const source = await Service.forSuite()
  const workspaceId = (await seedOn(source)).workspaces[0]!.id
  const { lines } = await exportOf(source.adminDeps, workspaceId)
  let service: Service
  let deps: AdminDeps
  beforeEach(async () => {
    service = await Service.start(driver)
    deps = service.adminDeps
  })
  afterEach(() => service.stop())
  const exported = async () => comparableExport((await exportOf(deps, workspaceId)).lines)
  const readFiles = async (partition = workspaceId): Promise<FileRecord[]> => {
    const fileKeys = (await service.recordKeys(partition)).filter((key) => key.startsWith('file:')) as Key<FileRecord>[]
    return (await service.write(partition, (tx) => tx.read(fileKeys))) as FileRecord[]
  }
  const remainingKeys = async () => [
    ...(await service.recordKeys(workspaceId)).filter((key) => key !== keys.importing()),
    ...(await service.blobKeys()),
  ]

  test.each([3, 60, 150])('an import that is paused at line %i fails if a second import completes', async (at) => {
    const run = () => importWorkspace(deps, createIo(lines))
    await expect(importWorkspace(deps, createIo(lines, { at, run }))).rejects.toMatchObject({ code: 'conflict' })
    expect(await exported()).toEqual(comparableExport(lines))
    expect((await listWorkspaces(deps)).map(({ id }) => id)).toEqual([workspaceId])
  })

  /** The export with the bytes of each file in two lines, and the number of the second line of the first file. */
  const splitBytes = (): { split: string[]; second: number } => {
    const split = lines.slice(0, -1).flatMap((line) => {
      const parsed = JSON.parse(line)
      if (parsed.bytes === undefined) return [line]
      const parts = [parsed.bytes.slice(0, 4), parsed.bytes.slice(4)]
      return parts.map((bytes, i) => JSON.stringify({ ...parsed, bytes, last: i === 1 }))
    })
    return { split: withTrailer(split), second: split.findIndex((line) => line.startsWith('{"bytes"')) + 1 }
  }

  test('an import that is paused within the bytes of a file leaves none of them if a second import begins and fails', async () => {
    const { split, second } = splitBytes()
    const run = () => expect(importWorkspace(deps, createIo(lines.slice(0, 50)))).rejects.toMatchObject({ code: 'invalid' })
    await expect(importWorkspace(deps, createIo(split, { at: second, run }))).rejects.toMatchObject({ code: 'conflict' })
    expect(await remainingKeys()).toEqual([])
    await importWorkspace(deps, createIo(split))
    expect(await exported()).toEqual(comparableExport(lines))
  })

  test('an import that fails does not remove bytes of a second import that begins meanwhile', async () => {
    let second: Promise<unknown> | undefined
    const remove = async (id: string): Promise<void> => {
      await deps.blobs.remove(id)
      await (second ??= importWorkspace(deps, createIo(lines)))
    }
    const first = importWorkspace({ ...deps, blobs: { ...deps.blobs, remove } }, createIo(lines.slice(0, -1)))
    await expect(first).rejects.toMatchObject({ code: 'invalid' })
    await second
    expect(await exported()).toEqual(comparableExport(lines))
  })

  const record = (key: string, value: object) => JSON.stringify({ key, value })
  const times = { created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z' }
  const label = (changes: object) => {
    const value = { id: 'lbl_00000000000000000000', board_id: 'brd_00000000000000000000', name: 'x', color: '#000000', ...times }
    return record('label:lbl_00000000000000000000', { ...value, ...changes })
  }
  const user = (changes: object) =>
    JSON.stringify({ user: { id: 'usr_00000000000000000000', display_name: 'x', avatar_url: null, ...times, ...changes } })
  /** Its bytes are {@link bytes}: three zeros. */
  const file = (changes: { id?: string; size?: number; sha256?: string }) => {
    const id = changes.id ?? 'fil_00000000000000000000'
    const sha256 = createHash('sha256').update(Buffer.alloc(3)).digest('hex')
    const common = {
      owner_id: 'usr_00000000000000000000',
      visibility: 'private',
      board_id: 'brd_00000000000000000000',
      name: 'x',
      content_type: 'text/plain',
    }
    return record(`file:${id}`, { id, ...common, size: 3, blob_id: `blb_${'0'.repeat(20)}`, sha256, ...times, ...changes })
  }
  const token = (changes: object) => {
    const hash = '0'.repeat(64)
    const value = { id: 'tok_00000000000000000000', hash, user_id: 'usr_00000000000000000000', name: 'x', scopes: ['kanban:admin'] }
    return record(`token:${hash}`, { ...value, revoked_at: null, replaced_by: null, ...changes })
  }
  const bytes = (id: string, last: boolean) => JSON.stringify({ bytes: 'AAAA', blob_id: `blb_${id.repeat(20)}`, last })
  const abandoned = (id: string) => JSON.stringify({ abandoned: `blb_${id.repeat(20)}` })
  /** Expects that an export is refused, and that nothing of it remains. */
  const expectRefusal = async (refused: readonly string[], message: RegExp) => {
    await expect(importWorkspace(deps, createIo(refused))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(message),
    })
    expect({ workspaces: await listWorkspaces(deps), remainingKeys: await remainingKeys() }).toEqual({ workspaces: [], remainingKeys: [] })
  }
  test.each<[string, (id: string) => string[], RegExp]>([
    ['only a header', () => [], /has no record of wsp_/],
    [
      'the record of another workspace',
      () => [record('workspace:self', { id: 'wsp_00000000000000000000', name: 'x', ...times })],
      /has no record of/,
    ],
    ['an invalid card', () => [record('card:crd_00000000000000000000', {})], /card:crd_0+: /],
    ['a record under the key of another record', () => [label({ id: 'lbl_11111111111111111111' })], /is not the key of its record/],
    ['a kind that is a property of every object', () => [record('constructor:x', {})], /unknown kind of record "constructor"/],
    ['the record of an import in progress', () => [record('importing:self', { id: 'x' })], /unknown kind of record "importing"/],
    ['a user without a name', () => [user({ display_name: undefined })], /^user:usr_0+: display_name/],
    ['a user with the id of a board', () => [user({ id: 'brd_00000000000000000000' })], /^user:brd_0+: id: must be the id of a user/],
    ['a user with an avatar of another scheme', () => [user({ avatar_url: 'javascript:alert(1)' })], /avatar_url: must be an https/],
    ["bytes that end with another file's", () => [bytes('0', false), bytes('1', true)], /blb_0+ are incomplete/],
    ['bytes that end with the abandonment of another file', () => [bytes('0', false), abandoned('1')], /blb_0+ are incomplete/],
    [
      'bytes that no file refers to',
      (id) => [bytes('0', true), record('workspace:self', { id, name: 'x', ...times })],
      /no file refers to the bytes of blb_0+/,
    ],
    ['bytes of another size than their file states', () => [bytes('0', true), file({ size: 4 })], /size and SHA-256/],
    ['bytes of another hash than their file states', () => [bytes('0', true), file({ sha256: '0'.repeat(64) })], /size and SHA-256/],
    ['the bytes of one file twice', () => [bytes('0', true), bytes('0', true)], /in the export twice/],
    [
      'two files with the same bytes',
      () => [bytes('0', true), file({}), file({ id: 'fil_11111111111111111111' })],
      /does not have its bytes/,
    ],
    ['a name with a control character', () => [label({ name: 'a\u0000b' })], /name: must not contain line breaks/],
    ['an unknown member', () => [label({ nonsense: 1 })], /Unrecognized key/],
    ['an id of another kind', () => [label({ board_id: 'crd_00000000000000000000' })], /board_id: must be the id of a board/],
    ['a name with spaces at its ends', () => [label({ name: ' x' })], /never stored in this form/],
    [
      'a token whose hash is not a hash',
      () => [token({ hash: 'a', issued_at: '2026-01-01T00:00:00.000Z', expires_at: '2026-02-01T00:00:00.000Z' })],
      /hash/,
    ],
    [
      'a token that was issued in the future',
      () => [token({ issued_at: '2090-01-01T00:00:00.000Z', expires_at: '2090-02-01T00:00:00.000Z' })],
      /was issued in the future/,
    ],
  ])('an export with %s is refused', async (_case, make, message) => {
    await expectRefusal(withTrailer([lines[0]!, ...make(workspaceId)]), message)
  })

  const READ_IT = 'read it with the version of Lanekeeper that wrote it'
  const withEnd = (changes: (end: { lines: number; sha256: string }) => object) => {
    const end = JSON.parse(lines.at(-1)!)
    return [...lines.slice(0, -1), JSON.stringify({ ...end, ...changes(end) })]
  }
  const without = (at: number) => lines.filter((_line, i) => i !== at)
  test.each<[string, () => readonly string[], RegExp]>([
    ['is empty', () => [], /incomplete/],
    ['is no JSON', () => ['{"broken'], /not valid JSON/],
    ['has half a header', () => ['{"lanekeeper_export":1}'], /line 1 is not a valid line of an export/],
    ['has no header', () => without(0), /not an export/],
    ['has the id of a user', () => [lines[0]!.replace(workspaceId, 'usr_00000000000000000000')], /not the id of a workspace/],
    ['lacks its last line', () => lines.slice(0, -1), /incomplete: its last line/],
    ['is cut after many records', () => [lines[0]!, ...manyLabels()], /incomplete/],
    ['has other lines after its end', () => [...lines, ...lines], /follows the end of the export/],
    ['has another number of lines', () => withEnd(({ lines: count }) => ({ lines: count + 1 })), /checksum does not match/],
    ['has another hash', () => withEnd(({ sha256 }) => ({ sha256: [...sha256].toReversed().join('') })), /checksum does not match/],
    ['lacks bytes', () => without(lines.findIndex((line) => line.startsWith('{"bytes"'))), /does not have its bytes/],
    ...[1, 3].map((format): [string, () => readonly string[], RegExp] => [
      `has the format ${format}`,
      () => [lines[0]!.replace('"lanekeeper_export":2', `"lanekeeper_export":${format}`), ...lines.slice(1)],
      new RegExp(`has format ${format}, and this version of Lanekeeper reads format 2: ${READ_IT}`),
    ]),
    ...[undefined, 3, 99].map((version): [string, () => readonly string[], RegExp] => [
      `has records of the version ${version}`,
      () => [lines[0]!.replace(/"schema":\d+,/, version === undefined ? '' : `"schema":${version},`), ...lines.slice(1)],
      new RegExp(`records of version ${version ?? 0}, .* ${READ_IT}`),
    ]),
  ])('an export that %s is refused', async (_case, make, message) => {
    await expectRefusal(make(), message)
    await importWorkspace(deps, createIo(lines))
    expect(await exported()).toEqual(comparableExport(lines))
  })

  test('empty lines of an export are ignored', async () => {
    await importWorkspace(deps, createIo(lines.flatMap((line) => ['', line, ''])))
    expect(await exported()).toEqual(comparableExport(lines))
  })

  test('before the last line of an export is verified, no record makes the workspace accessible', async () => {
    let written: string[] = []
    const run = async () => (written = await service.recordKeys(workspaceId))
    // The labels fill the commits; the other records are there after them.
    const all = withTrailer([...lines.slice(0, -1), ...manyLabels()])
    await importWorkspace(deps, createIo(all, { at: all.length - 1, run }))
    expect(written).toContain(keys.importing())
    expect(written.filter((key) => /^(workspace|membership|token):/.test(key))).toEqual([])
  })

  /** More records than one commit takes. */
  const manyLabels = (): string[] =>
    Array.from({ length: 450 }, (_none, i) => {
      const id = `lbl_${String(i).padStart(20, '0')}`
      return record(`label:${id}`, { id, board_id: 'brd_00000000000000000000', name: 'x', color: '#000000', ...times })
    })

  test('a user who exists already keeps their profile, and other users are added', async () => {
    const users = lines.flatMap((line): User[] => JSON.parse(line).user ?? [])
    const present = { ...users[0]!, display_name: 'Renamed' }
    await service.write(GLOBAL, (tx) => tx.create(keys.user(present.id), present))
    await importWorkspace(deps, createIo(lines))
    const byId = (a: User, b: User) => (a.id < b.id ? -1 : 1)
    expect((await listUsers(deps)).toSorted(byId)).toEqual([present, ...users.slice(1)].toSorted(byId))
  })

  test('an import that names the bytes of another workspace gets its own copy from the export, or is refused', async () => {
    await importWorkspace(deps, createIo(lines))
    const secret = (await readFiles())[0]!
    const other = (line: string) => line.replaceAll(workspaceId, 'wsp_00000000000000000000')
    const record = (blobId: string) => JSON.stringify({ key: `file:${secret.id}`, value: { ...secret, blob_id: blobId } })
    // The record names bytes that exist, but the export does not have them.
    await expect(importWorkspace(deps, createIo(withTrailer([other(lines[0]!), record(secret.blob_id)])))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('does not have its bytes'),
    })
    await importWorkspace(deps, createIo(withTrailer(lines.slice(0, -1).map(other))))
    expect(new Set([...(await readFiles()), ...(await readFiles('wsp_00000000000000000000'))].map(({ blob_id }) => blob_id)).size).toBe(
      2 * (await readFiles()).length,
    )
    expect(await exported()).toEqual(comparableExport(lines))
  })

  test('an empty file that names the bytes of another workspace gets another id', async () => {
    await importWorkspace(deps, createIo(lines))
    const secret = (await readFiles())[0]!
    const other = 'wsp_00000000000000000000'
    const workspace = record('workspace:self', { id: other, name: 'x', ...times })
    const empty = record(`file:${secret.id}`, { ...secret, size: 0 })
    const summary = await importWorkspace(deps, createIo(withTrailer([lines[0]!.replaceAll(workspaceId, other), empty, workspace])))
    expect(summary).toMatchObject({ files: 1, bytes: 0 })
    const [imported, ...more] = await readFiles(other)
    expect({ size: imported!.size, isSameBlob: imported!.blob_id === secret.blob_id, more }).toEqual({
      size: 0,
      isSameBlob: false,
      more: [],
    })
    expect(imported!.blob_id).toMatch(/^blb_[0-9a-z]{20}$/)
  })

  test('a removal of bytes that an export names is not imported', async () => {
    const { blob_id: target } = JSON.parse(lines.find((line) => line.startsWith('{"bytes"'))!)
    const tombstone = { id: 'tmb_00000000000000000000', kind: 'blob', target, not_before: '2026-01-01T00:00:00.000Z' }
    await importWorkspace(deps, createIo(withTrailer([...lines.slice(0, -1), record(`tombstone:${tombstone.id}`, tombstone)])))
    expect((await service.recordKeys(workspaceId)).filter((key) => key === `tombstone:${tombstone.id}`)).toEqual([])
  })
})
