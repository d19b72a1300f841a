import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AdminDeps } from '../../src/admin/deps.ts'
import { exportWorkspace } from '../../src/admin/workspace-export.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import type { TransferSummary } from '../../src/admin/transfer-summary.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { createApp, type App } from '../../src/app.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { createIo } from '../support/command-io.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { comparableExport } from '../support/export-lines.ts'
import { quiet } from '../support/log.ts'
import { cheapPasswords, engine } from '../support/service.ts'

const clock = () => Date.parse('2026-11-20T12:00:00.000Z')

async function open(driver: Driver) {
  const opened = await driver.open()
  const deps: AdminDeps = { ...opened, clock, random: systemRandom }
  const app = createApp({ ...deps, log: quiet, engine, passwords: cheapPasswords })
  const close = async () => (await app.services.usage.settled(), await opened.store.close(), await opened.blobs.close())
  return { deps, app, close }
}

/** Reads everything that is accessible with a token. */
async function readAll(app: { fetch(request: Request): Promise<Response> }, token: string): Promise<string[]> {
  const get = async (path: string) => {
    const response = await app.fetch(new Request(`http://x/v1${path}`, { headers: { authorization: `Bearer ${token}` } }))
    return { status: response.status, text: await response.text() }
  }
  const responses: string[] = []
  const read = async (path: string): Promise<any[]> => {
    const { status, text } = await get(path)
    if (status === 401) return (responses.push(`${path} 401`), [])
    responses.push(`${path} ${status} ${text}`)
    const { data } = JSON.parse(text)
    return Array.isArray(data) ? data : []
  }
  await read('/members')
  for (const board of await read('/boards')) {
    for (const part of ['columns', 'labels', 'members']) await read(`/boards/${board.id}/${part}`)
    for (const card of await read(`/boards/${board.id}/cards?limit=100&include=counts`)) {
      for (const part of ['comments', 'subtasks']) await read(`/cards/${card.id}/${part}`)
      for (const attachment of await read(`/cards/${card.id}/attachments`)) {
        const { status, text } = await get(`/attachments/${attachment.id}/content`)
        responses.push(`${attachment.id} ${status} ${text}`)
      }
    }
  }
  return responses
}

describe.each(drivers)('transfer from $name', (from) => {
  let source: Awaited<ReturnType<typeof open>>
  let demo: Awaited<ReturnType<typeof seedDemo>>
  let before: readonly string[][]
  let exported: TransferSummary
  const exportIo = createIo()
  const readWithEachToken = (app: App) => Promise.all(demo.tokens.map(({ token }) => readAll(app, token)))
  beforeAll(async () => {
    source = await open(from)
    demo = await seedDemo({ ...source.deps, passwords: source.app.passwords }, source.app.fetch, readWorld())
    before = await readWithEachToken(source.app)
    exported = await exportWorkspace(source.deps, demo.workspaces[0]!.id, exportIo)
  })
  afterAll(() => source.close())

  test.each(drivers)(`an export from ${from.name} that is imported to $name gives every token the same access`, async (to) => {
    const target = await open(to)
    const { id } = demo.workspaces[0]!
    expect(exported.files).toBeGreaterThan(0)
    expect(await importWorkspace(target.deps, createIo(exportIo.written))).toEqual(exported)
    expect(await readWithEachToken(target.app)).toEqual(
      demo.tokens.map(({ workspace_id }, i) => (workspace_id === id ? before[i] : ['/members 401', '/boards 401'])),
    )
    const secondExport = createIo()
    await exportWorkspace(target.deps, id, secondExport)
    // The last use of a token is written after the response, so an export may not contain it yet.
    const withoutTokenUse = (lines: readonly string[]) => comparableExport(lines).filter((line) => !line.startsWith('{"key":"token_use:'))
    expect(withoutTokenUse(secondExport.written)).toEqual(withoutTokenUse(exportIo.written))
    for (const { token } of demo.tokens) expect(exportIo.written.join('\n')).not.toContain(token)
    await expect(importWorkspace(target.deps, createIo(exportIo.written))).rejects.toMatchObject({ code: 'conflict' })
    await target.close()
  })
})

describe.each(drivers)('transfer to $name', (driver) => {
  test('an invalid export is refused and gives no access, and the valid export can be imported afterwards', async () => {
    const [source, target] = [await open(drivers[0]!), await open(driver)]
    const demo = await seedDemo({ ...source.deps, passwords: source.app.passwords }, source.app.fetch, readWorld())
    const exportIo = createIo()
    await exportWorkspace(source.deps, demo.workspaces[0]!.id, exportIo)
    const lines = exportIo.written
    const without = (at: number) => lines.filter((_line, i) => i !== at)
    const file = lines.findIndex((line) => line.startsWith('{"bytes"'))
    const invalid: [string[], RegExp][] = [
      [[], /incomplete/],
      [['{"broken'], /not valid JSON/],
      [['null'], /line 1 is not a valid line of an export/],
      [['{"lanekeeper_export":1}'], /line 1 is not a valid line of an export/],
      [without(0), /not an export/],
      [without(lines.length - 1), /incomplete: its last line/],
      [without(5), /checksum/],
      [without(file), /does not have its bytes/],
      [
        lines.map((line, i) => (i === 7 ? line.replace(/\d/, '7').replace('a', 'b') : line)),
        /checksum|unknown kind of record|not the key of its record/,
      ],
      ...([1, 3] as const).map((format): [string[], RegExp] => [
        [lines[0]!.replace('"lanekeeper_export":2', `"lanekeeper_export":${format}`), ...lines.slice(1)],
        new RegExp(
          `has format ${format}, and this version of Lanekeeper reads format 2: read it with the version of Lanekeeper that wrote it`,
        ),
      ]),
      ...(['', '"schema":3,', '"schema":99,'] as const).map((schema): [string[], RegExp] => [
        [lines[0]!.replace(/"schema":\d+,/, schema), ...lines.slice(1)],
        new RegExp(`records of version ${/\d+/.exec(schema)?.[0] ?? 0}, .* read it with the version of Lanekeeper that wrote it`),
      ]),
    ]
    for (let cut = 1; cut < lines.length; cut += 17) invalid.push([lines.slice(0, cut), /incomplete/])
    for (const [text, message] of invalid) {
      await expect(importWorkspace(target.deps, createIo(text))).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(message),
      })
      expect(await listWorkspaces(target.deps)).toEqual([])
      expect(await readAll(target.app, demo.tokens[0]!.token)).toEqual(['/members 401', '/boards 401'])
    }
    // The records of a failed import are removed, including those that the next import does not contain.
    const label = lines.find((line) => line.includes('"key":"label:'))!
    const many = Array.from({ length: 400 }, (_none, i) => label.replaceAll(/lbl_\w{5}/g, `lbl_${String(i).padStart(5, '0')}`))
    await expect(importWorkspace(target.deps, createIo([lines[0]!, ...many]))).rejects.toMatchObject({ code: 'invalid' })
    await importWorkspace(target.deps, createIo(lines))
    const secondExport = createIo()
    await exportWorkspace(target.deps, demo.workspaces[0]!.id, secondExport)
    expect(comparableExport(secondExport.written)).toEqual(comparableExport(lines))
    await source.close()
    await target.close()
  })
})
