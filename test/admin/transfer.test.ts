import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { createApp } from '../../src/app.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { exportWorkspace } from '../../src/admin/export.ts'
import { importWorkspace } from '../../src/admin/import.ts'
import type { CommandIo, AdminDeps } from '../../src/admin/deps.ts'
import { listWorkspaces } from '../../src/admin/workspaces.ts'
import { drivers, type Driver } from '../support/drivers.ts'
import { quiet } from '../support/log.ts'

const clock = () => Date.parse('2026-11-20T12:00:00.000Z')

async function open(driver: Driver) {
  const place = await driver.open()
  const tools: AdminDeps = { ...place, clock, random: systemRandom }
  const app = createApp({ ...tools, log: quiet })
  const close = async () => (await app.services.usage.settled(), await place.store.close(), await place.blobs.close())
  return { tools, app, close }
}

/** Takes what is exported, or hands over what is to be imported. */
function talk(lines: readonly string[] = []): CommandIo & { readonly written: string[] } {
  const written: string[] = []
  return {
    written,
    progress: () => undefined,
    write: async (line) => void written.push(line),
    lines: (async function* () {
      yield* lines
    })(),
  }
}

/** Everything that a token shows. */
async function seenBy(app: { fetch(request: Request): Promise<Response> }, token: string): Promise<string[]> {
  const ask = async (path: string) => {
    const response = await app.fetch(new Request(`http://x/v1${path}`, { headers: { authorization: `Bearer ${token}` } }))
    return { etag: response.headers.get('etag'), status: response.status, text: await response.text() }
  }
  const seen: string[] = []
  const see = async (path: string): Promise<any[]> => {
    const { status, text } = await ask(path)
    if (status === 401) return (seen.push(`${path} 401`), [])
    seen.push(`${path} ${status} ${text}`)
    const { data } = JSON.parse(text)
    return Array.isArray(data) ? data : []
  }
  await see('/members')
  for (const board of await see('/boards')) {
    for (const part of ['columns', 'labels', 'members']) await see(`/boards/${board.id}/${part}`)
    for (const card of await see(`/boards/${board.id}/cards?limit=100&include=counts`)) {
      for (const part of ['comments', 'subtasks']) await see(`/cards/${card.id}/${part}`)
      for (const attachment of await see(`/cards/${card.id}/attachments`)) {
        const { status, text } = await ask(`/attachments/${attachment.id}/content`)
        seen.push(`${attachment.id} ${status} ${text}`)
      }
    }
  }
  return seen
}

describe.each(drivers.flatMap((from) => drivers.map((to) => [from, to] as const)))('from $name', (from, to) => {
  test(`to ${to.name}: whoever had access has it there, to the same, and nobody else`, async () => {
    const [source, target] = [await open(from), await open(to)]
    const demo = await seedDemo({ ...source.tools, passwords: source.app.passwords }, source.app.fetch, readWorld())
    const [acme] = demo.workspaces
    const before = new Map<string, string[]>()
    for (const { token } of demo.tokens) before.set(token, await seenBy(source.app, token))
    const out = talk()
    const exported = await exportWorkspace(source.tools, acme!.id, out)
    expect(exported.files).toBeGreaterThan(0)
    expect(await importWorkspace(target.tools, talk(out.written))).toEqual(exported)
    for (const { token, workspace_id } of demo.tokens)
      expect(await seenBy(target.app, token)).toEqual(workspace_id === acme!.id ? before.get(token) : ['/members 401', '/boards 401'])
    const again = talk()
    await exportWorkspace(target.tools, acme!.id, again)
    // When a token was used is written behind the request's back, and may come later than an export.
    const lasting = (lines: readonly string[]) => lines.filter((line) => !/^\{"key":"token_use:|^\{"end"/.test(line))
    expect(lasting(again.written)).toEqual(lasting(out.written))
    for (const { token } of demo.tokens) expect(out.written.join('\n')).not.toContain(token)
    await expect(importWorkspace(target.tools, talk(out.written))).rejects.toMatchObject({ code: 'conflict' })
    await source.close()
    await target.close()
  })
})

describe.each(drivers)('into $name', (driver) => {
  test('an export that is not what was written opens nothing, and can be brought in again once it is', async () => {
    const [source, target] = [await open(drivers[0]!), await open(driver)]
    const demo = await seedDemo({ ...source.tools, passwords: source.app.passwords }, source.app.fetch, readWorld())
    const out = talk()
    await exportWorkspace(source.tools, demo.workspaces[0]!.id, out)
    const lines = out.written
    const without = (at: number) => lines.filter((_line, i) => i !== at)
    const file = lines.findIndex((line) => line.startsWith('{"bytes"'))
    const broken: [string[], RegExp][] = [
      [[], /not whole/],
      [['{"broken'], /no JSON/],
      [['null'], /line 1 is none of an export/],
      [['{"lanekeeper_export":1}'], /line 1 is none of an export/],
      [without(0), /no export/],
      [without(lines.length - 1), /not whole: its last line/],
      [without(5), /checksum/],
      [without(file), /checksum|no bytes/],
      [
        lines.map((line, i) => (i === 7 ? line.replace(/\d/, '7').replace('a', 'b') : line)),
        /checksum|a workspace has no record|another record/,
      ],
      [lines.map((line, i) => (i === 0 ? line.replace('"lanekeeper_export":2', '"lanekeeper_export":3') : line)), /format 3/],
    ]
    for (let cut = 1; cut < lines.length; cut += 17) broken.push([lines.slice(0, cut), /not whole/])
    for (const [text, message] of broken) {
      await expect(importWorkspace(target.tools, talk(text))).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringMatching(message),
      })
      expect(await listWorkspaces(target.tools)).toEqual([])
      expect(await seenBy(target.app, demo.tokens[0]!.token)).toEqual(['/members 401', '/boards 401'])
    }
    // What a try before it left is gone, also what was deleted at the source since.
    const label = lines.find((line) => line.includes('"key":"label:'))!
    const many = Array.from({ length: 400 }, (_none, i) => label.replaceAll(/lbl_\w{5}/g, `lbl_${String(i).padStart(5, '0')}`))
    await expect(importWorkspace(target.tools, talk([lines[0]!, ...many]))).rejects.toMatchObject({ code: 'invalid' })
    await importWorkspace(target.tools, talk(lines))
    const again = talk()
    await exportWorkspace(target.tools, demo.workspaces[0]!.id, again)
    expect(again.written).toEqual(lines)
    await source.close()
    await target.close()
  })
})
