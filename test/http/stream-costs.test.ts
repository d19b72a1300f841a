import { expect, test, vi } from 'vitest'
import { Turns } from '../../src/governor/turns.ts'
import { TestBoard } from '../support/board.ts'
import { EventReader } from '../support/event-reader.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { formOf, signedIn } from '../support/visitor.ts'

const MINUTE = 60_000
const quotas = { token: 20, workspace: 1000, address: 1000 }

/** A board whose changes have 1.6 MB, of 16 cards. */
async function longBoard() {
  const service = await Service.start(memory, { rateLimits: { quotas } })
  const owner = await service.person(await service.workspace(), 'owner')
  const board = await TestBoard.create(service, owner)
  const column_id = await board.column('To do')
  for (let i = 0; i < 16; i++) {
    service.now += MINUTE
    await board.post(`/boards/${board.id}/cards`, { column_id, title: `Card ${i}`, description: 'x'.repeat(50_000) })
    await board.post(`/boards/${board.id}/cards`, { column_id, title: `Card ${i}`, description: '\u{E9}'.repeat(25_000) })
  }
  service.now += MINUTE
  return { service, owner, board }
}

test('the bytes of streams cost units, and a stream that has used them up says that it has to begin again', async () => {
  const { service, owner, board } = await longBoard()
  const open = async (token: string) => new EventReader(await service.fetch(token, 'GET', `/boards/${board.id}/events`))
  const events = await (await open(owner.read)).rest()
  const bytes = events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)), 0)
  // A unit for the request, and 20 for 64 KiB each: what was made before the last one was refused is sent.
  expect(bytes).toBeGreaterThan(19 * 65_536)
  expect(bytes).toBeLessThan(22 * 65_536)
  expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: { code: 'rate_limited', retry_after: 60 } } })
  expect(events.at(-1)!.data.error.message).toContain('Read the board anew')
  expect((await service.send(owner.read, 'GET', '/account')).status).toBe(429)
  // Others have their own.
  expect((await service.send(owner.write, 'GET', '/account')).status).toBe(200)
  service.now += MINUTE
  const after = events.at(-2)!.id
  const rest = new EventReader(await service.fetch(owner.read, 'GET', `/boards/${board.id}/events?after=${after}`))
  expect((await rest.take(1))[0]!.data.seq).toBe(events.at(-2)!.data.seq + 1)
  await rest.close()
  await service.stop()
})

test('a stream has a turn before its first read, which finds many changes at once', async () => {
  const turns = new Turns()
  const entered = vi.spyOn(turns, 'enter')
  const service = await Service.start(memory, { turns })
  const owner = await service.person(await service.workspace(), 'owner')
  const board = await TestBoard.create(service, owner)
  entered.mockClear()
  const stream = new EventReader(await service.fetch(owner.read, 'GET', `/boards/${board.id}/events`))
  expect(entered.mock.calls.map(([{ worker }]) => worker.workspaceId)).toEqual([owner.workspaceId])
  await stream.close()
  await service.stop()
})

test('pages cost by the bytes that they read and send: with many cards, fewer can be opened', async () => {
  const service = await Service.start(memory, { rateLimits: { quotas: { token: 60, workspace: 10_000, address: 1000 } } })
  const owner = await service.person(await service.workspace(), 'owner')
  const board = await TestBoard.create(service, owner)
  for (let i = 0; i < 5; i++) {
    service.now += MINUTE
    const column_id = await board.column(`Column ${i}`)
    const operations = Array.from({ length: 60 }, (_, n) => ({ operation: 'cards.create', body: { column_id, title: `Card ${n}` } }))
    service.now += MINUTE
    await board.post(`/boards/${board.id}/batch`, { operations })
  }
  const visitor = await signedIn(service, owner)
  /** How many pages can be opened in a minute, of at most 40. A person has four times the units of a token: 240. */
  const opened = async (path: string) => {
    service.now += MINUTE
    for (let i = 0; i < 40; i++) if ((await visitor.request(path)).status === 429) return i
    return 40
  }
  expect(await opened('/settings/tokens')).toBe(40)
  expect(await opened(`/app/${owner.workspaceId}/boards/${board.id}`)).toBeLessThan(25)
  await service.stop()
})

test('files that a person uploads in the web app cost pages', async () => {
  const service = await Service.start(memory, { rateLimits: { quotas: { token: 10, workspace: 10_000, address: 1000 } } })
  const owner = await service.person(await service.workspace(), 'owner')
  const board = await TestBoard.create(service, owner)
  const cardId = await board.card(await board.column())
  const visitor = await signedIn(service, owner)
  const path = `/app/${owner.workspaceId}/cards/${cardId}`
  const form = formOf((await visitor.open(path)).text, `/app/${owner.workspaceId}/do/attachments.upload`)
  const hidden = Object.entries({ ...form.hidden, visibility: 'private' }).map(
    ([name, value]) => `--edge\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const file = `--edge\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${'x'.repeat(12 * 1024 * 1024)}\r\n--edge--\r\n`
  const body = hidden.join('') + file
  const upload = async () =>
    (await visitor.post(form.action, {}, { headers: { 'content-type': 'multipart/form-data; boundary=edge' }, body })).status
  // A person has four times the units of a token: 40. Of 24 MiB, the first ten cost nothing, and the others four each.
  expect([await upload(), await upload(), await upload()]).toEqual([303, 303, 429])
  service.now += MINUTE
  expect(await upload()).toBe(303)
  await service.stop()
})
