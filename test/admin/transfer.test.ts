import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importWorkspace } from '../../src/admin/import.ts'
import type { Demo } from '../../src/demo/seed.ts'
import { createIo } from '../support/command-io.ts'
import { seedOn } from '../support/demo.ts'
import { drivers } from '../support/drivers.ts'
import { comparableExport } from '../support/export-lines.ts'
import { Service } from '../support/service.ts'
import { exportOf } from '../support/transfers.ts'

/** Reads everything that is accessible with a token. */
async function readAll(service: Service, token: string): Promise<string[]> {
  const get = (path: string) => service.send(token, 'GET', path)
  const responses: string[] = []
  const read = async (path: string): Promise<any[]> => {
    const { status, text, body } = await get(path)
    if (status === 401) return (responses.push(`${path} 401`), [])
    responses.push(`${path} ${status} ${text}`)
    return Array.isArray(body.data) ? body.data : []
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
  let source: Service
  let demo: Demo
  let before: readonly string[][]
  let exported: Awaited<ReturnType<typeof exportOf>>
  const readWithEachToken = (service: Service) => Promise.all(demo.tokens.map(({ token }) => readAll(service, token)))
  beforeAll(async () => {
    source = await Service.start(from)
    demo = await seedOn(source)
    before = await readWithEachToken(source)
    exported = await exportOf(source.adminDeps, demo.workspaces[0]!.id)
  })
  afterAll(() => source.stop())

  test.each(drivers)(`an export from ${from.name} that is imported to $name gives every token the same access`, async (to) => {
    const target = await Service.start(to)
    const { id } = demo.workspaces[0]!
    expect(exported.summary.files).toBeGreaterThan(0)
    expect(await importWorkspace(target.adminDeps, createIo(exported.lines))).toEqual(exported.summary)
    expect(await readWithEachToken(target)).toEqual(
      demo.tokens.map(({ workspace_id }, i) => (workspace_id === id ? before[i] : ['/members 401', '/boards 401'])),
    )
    const second = await exportOf(target.adminDeps, id)
    // The last use of a token is written after the response, so an export may not contain it yet.
    const withoutTokenUse = (lines: readonly string[]) => comparableExport(lines).filter((line) => !line.startsWith('{"key":"token_use:'))
    expect(withoutTokenUse(second.lines)).toEqual(withoutTokenUse(exported.lines))
    for (const { token } of demo.tokens) expect(exported.lines.join('\n')).not.toContain(token)
    await expect(importWorkspace(target.adminDeps, createIo(exported.lines))).rejects.toMatchObject({ code: 'conflict' })
    await target.stop()
  })
})
