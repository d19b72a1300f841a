import { beforeEach, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { revisions, setUpMcp } from '../support/mcp.ts'

const mcp = setUpMcp()
const MAX = 64 * 1024
let board: TestBoard
let cardId: string
beforeEach(async () => {
  board = await TestBoard.create(mcp.service, mcp.ann)
  cardId = await board.card(await board.column())
})
const attach = async (args: object, token = mcp.ann.write) => (await mcp.call(token, 'attach_text', { card_id: cardId, ...args })).content
const attached = async () => (await board.get(`/cards/${cardId}/attachments`)).body.data

describe('attach_text', () => {
  test.each(revisions)('uploads a text of a client of the revision %s, and attaches it', async (revision) => {
    const client = await mcp.connect(mcp.ann.write, revision)
    const text = '# Größe\r\n\n--boundary\r\n"quoted" 🎉\u0000\n'
    const shared = { card_id: cardId, name: 'Übersicht 100%.md', content_type: 'text/markdown', visibility: 'private' }
    const { isError, structuredContent } = await client.callTool({ name: 'attach_text', arguments: { ...shared, text } })
    expect(isError).toBeUndefined()
    const { data } = structuredContent as any
    expect(data).toMatchObject({ ...shared, size: Buffer.byteLength(text), owner_id: mcp.ann.id })
    expect(await attached()).toEqual([data])
    expect((await board.get(`/attachments/${data.id}/content`)).text).toBe(text)
  })

  // Browsers write a name in ways that are decoded. An argument means what it says.
  test.each(['a%22b.md', '=?utf-8?Q?x?=.md', 'a "b".md', "it's; 100%.md", '%0D%0A.md', 'ä🎉.md'])('keeps the name %s', async (name) => {
    expect((await attach({ name, text: 'a' })).data.name).toBe(name)
  })

  test('has the defaults of an upload', async () => {
    const { data } = await attach({ name: 'a.txt', text: '' })
    expect(data).toMatchObject({ content_type: 'text/plain', visibility: 'board', size: 0 })
  })

  // Two bytes each in UTF-8: a limit of characters would accept twice as much.
  test('takes 64 KiB in UTF-8, and not one byte more', async () => {
    const { data } = await attach({ name: 'a.txt', text: 'ä'.repeat(MAX / 2) })
    expect(data.size).toBe(MAX)
    const { error } = await attach({ name: 'a.txt', text: `${'ä'.repeat(MAX / 2)}.` })
    expect(error).toMatchObject({ code: 'payload_too_large', limit_bytes: MAX })
    expect(error.message).toContain(`The text has ${MAX + 1} bytes in UTF-8, and a tool can attach at most ${MAX}.`)
    expect(await attached()).toHaveLength(1)
  })

  test.each<[string, object, string]>([
    ['no name', { text: 'a' }, 'name'],
    ['a name with a folder', { name: 'b/a.txt', text: 'a' }, 'name'],
    ['a name with a line break', { name: 'a\r\nX: y', text: 'a' }, 'name'],
    ['a name that is a folder', { name: '..', text: 'a' }, 'name'],
    ['a text that is no text', { name: 'a', text: { a: 1 } }, 'text'],
    ['a text that is no Unicode', { name: 'a', text: '\ud800' }, 'text'],
    ['another content type', { name: 'a', text: 'a', content_type: 'text/html' }, 'content_type'],
    ['another visibility', { name: 'a', text: 'a', visibility: 'public' }, 'visibility'],
    ['a file that is stored', { name: 'a', text: 'a', file_id: 'fil_00000000000000000000' }, 'file_id'],
  ])('refuses %s', async (_, args, path) => {
    const { error } = await attach(args)
    expect(error).toMatchObject({ code: 'validation_failed', issues: [{ path }] })
    expect(await attached()).toEqual([])
  })

  test('is decided as the upload that it is, by row P15', async () => {
    mcp.service.records.length = 0
    await attach({ name: 'a.txt', text: 'a' })
    expect(mcp.service.records.map(({ operation }) => operation)).toEqual(['account.read', 'attachments.upload'])
    expect(mcp.service.records[1]!.decision).toMatchObject({ outcome: 'allowed', row: 'P15' })
  })

  test('has the limit of the service if that is lower', async () => {
    const { services } = mcp.service.app
    const { uploadBytes } = services
    Object.assign(services, { uploadBytes: 100 })
    const { error } = await attach({ name: 'a', text: 'x'.repeat(101) })
    Object.assign(services, { uploadBytes })
    expect(error).toMatchObject({ code: 'payload_too_large', limit_bytes: 100 })
  })

  test('is done once with a key, and not at all as a dry run', async () => {
    expect(await attach({ name: 'a', text: 'a', dry_run: true })).toMatchObject({ data: { name: 'a' }, dry_run: true })
    const args = { name: 'a', text: 'a', idempotency_key: 'key-1' }
    const first = await attach(args)
    expect(await attach(args)).toEqual({ ...first, idempotent_replayed: true })
    expect((await attach({ ...args, text: 'b' })).error.code).toBe('idempotency_key_reused')
    expect(await attached()).toEqual([first.data])
  })
})
