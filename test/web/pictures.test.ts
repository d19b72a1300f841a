import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { DAY } from '../../src/model/time.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { GIF, png, webp } from '../support/pictures.ts'
import { signedIn, type Visitor } from '../support/visitor.ts'

// Previews of large pictures: what tiles and lists show in place of them.
const service = await startForSuite()
const { owner, visitor, api, base, boardId, columns } = await buildTeam(service)
const LARGE = Buffer.concat([png(800, 600), Buffer.alloc(100 * 1024)])
const MOST = 60 * 1024
const { id: cardId } = await api('POST', `/boards/${boardId}/cards`, { column_id: columns[0], title: 'Poster' })

async function attach(content: Buffer<ArrayBuffer> | string, name = 'photo.png'): Promise<{ id: string }> {
  const form = new FormData()
  form.set('file', new File([content], name, { type: 'image/png' }))
  form.set('visibility', 'board')
  return (await service.upload(owner.admin, `/cards/${cardId}/files`, form)).body.data
}
const previewOf = (id: string, from = visitor, headers: Record<string, string> = {}) =>
  from.request(`${base}/attachments/${id}/preview`, { headers })
const keep = (id: string, bytes: Uint8Array, from: Visitor = visitor) =>
  from.post(
    `${base}/attachments/${id}/preview`,
    { form_token: from.formToken, preview: Buffer.from(bytes).toString('base64url') },
    { headers: { accept: 'application/json' } },
  )

describe('a large picture', () => {
  test('shows its name until it has a preview, and then the preview, with the headers of a file', async () => {
    const { id } = await attach(LARGE, 'a<b>&"photo".png')
    const name = await previewOf(id)
    expect(name.text).toContain('>a&lt;b&gt;&amp;&quot;photo&quot;.png</text>')
    expect(name.text.length).toBeLessThan(2000)
    const preview = webp(640, 480, MOST)
    expect((await keep(id, preview)).status).toBe(200)
    const page = await previewOf(id)
    for (const [{ headers }, type] of [
      [name, 'image/svg+xml'],
      [page, 'image/webp'],
    ] as const)
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': type,
        'cache-control': 'private, no-cache',
        vary: 'Cookie',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'content-disposition': expect.stringMatching(/^attachment/),
      })
    expect(page.headers.get('content-length')).toBe(String(preview.length))
    const again = await previewOf(id, visitor, { 'if-none-match': page.headers.get('etag')! })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await previewOf(id, visitor, { 'if-none-match': name.headers.get('etag')! })).status).toBe(200)
    // The original is what it was.
    expect((await visitor.request(`${base}/attachments/${id}/picture`)).headers.get('content-length')).toBe(String(LARGE.length))
  })

  test.each<[string, Uint8Array]>([
    ['that is too large', webp(640, 480, MOST + 1)],
    ['of too many pixels', webp(1025, 10, 100)],
    ['that is empty', new Uint8Array()],
    ['of another type', png(10, 10)],
    ['that moves', Buffer.from(GIF, 'latin1')],
    ['that is a page', Buffer.from('<svg onload="alert(1)"/>'.padEnd(100))],
  ])('gets no preview %s', async (_name, bytes) => {
    const { id } = await attach(LARGE)
    expect((await keep(id, bytes)).status).toBe(422)
    expect((await previewOf(id)).headers.get('content-type')).toBe('image/svg+xml')
  })

  test('gets a preview only from those who may change the file, and shows it to those who may read the card', async () => {
    const { id } = await attach(LARGE)
    const member = await signedIn(service, await service.person(owner.workspaceId, 'member'))
    expect((await keep(id, webp(10, 10, 100), member)).status).toBe(403)
    expect((await previewOf(id, member)).headers.get('content-type')).toBe('image/svg+xml')
    await keep(id, webp(10, 10, 100))
    expect((await previewOf(id, member)).headers.get('content-type')).toBe('image/webp')
    const stranger = await signedIn(service, await service.person(await service.workspace('Other'), 'owner'))
    expect([(await keep(id, webp(10, 10, 100), stranger)).status, (await previewOf(id, stranger)).status]).toEqual([404, 404])
  })

  test('is never on a board, and on the page of its card only as a preview', async () => {
    const { id } = await attach(LARGE)
    await api('PUT', `/cards/${cardId}/cover`, { attachment_id: id })
    for (const path of [`${base}/boards/${boardId}`, `${base}/cards/${cardId}`]) {
      const { text } = await visitor.open(path)
      const pictures = [...text.matchAll(/<img[^>]* src="([^"]*)"/g)].map(([, address]) => address!)
      expect(pictures).toContain(`${base}/attachments/${id}/preview`)
      expect(pictures.filter((address) => !address.endsWith('/preview'))).toEqual([])
    }
  })

  test('takes its preview with it when it is deleted', async () => {
    const { id } = await attach(LARGE)
    const keysOf = () => service.place.blobKeys()
    const before = await keysOf()
    await keep(id, webp(10, 10, 100))
    expect(await keysOf()).toHaveLength(before.length + 1)
    await api('DELETE', `/attachments/${id}`)
    service.now += DAY
    await collectGarbage(service.adminDeps, owner.workspaceId)
    expect(await keysOf()).toHaveLength(before.length - 1)
  })
})

test('a small picture is its own preview, and gets no other one', async () => {
  const { id } = await attach(png(20, 10))
  expect([(await keep(id, webp(10, 10, 100))).status, (await previewOf(id)).headers.get('content-type')]).toEqual([422, 'image/png'])
})

test.each(['text', `<svg xmlns="http://www.w3.org/2000/svg"/>${' '.repeat(MOST)}`])(
  'what is no picture has no preview: %#',
  async (content) => {
    const { id } = await attach(content, 'a.svg')
    expect([(await previewOf(id)).status, (await keep(id, webp(10, 10, 100))).status]).toEqual([404, 404])
  },
)
