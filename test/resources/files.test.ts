import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { bytes, Service, type Person } from '../support/service.ts'

const UPLOAD_BYTES = 1024 * 1024

describe.each(drivers)('files, on $name', (driver) => {
  let service: Service
  let [ann, bob]: Person[] = []
  let board: TestBoard
  let card: string
  beforeAll(async () => {
    service = await Service.start(driver, { uploadBytes: UPLOAD_BYTES })
    const workspaceId = await service.workspace()
    ann = await service.person(workspaceId, 'member', 'Ann')
    bob = await service.person(workspaceId, 'member', 'Bob')
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    board = await TestBoard.create(service, ann!)
    card = await board.card(await board.column())
  })
  const download = (id: string, headers: Record<string, string> = {}, token = ann!.read) =>
    service.fetch(token, 'GET', `/attachments/${id}/content`, headers)

  test('what is uploaded comes back byte for byte, whatever its size', async () => {
    for (const size of [0, 1, 1000, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, UPLOAD_BYTES]) {
      const content = randomBytes(size)
      const form = new FormData()
      form.set('file', new File([content], 'random.bin'))
      const reply = await service.upload(ann!.write, `/cards/${card}/attachments`, form)
      expect([reply.status, reply.body.data]).toMatchObject([
        201,
        { card_id: card, name: 'random.bin', content_type: 'application/octet-stream', size, attached_by_id: ann!.id },
      ])
      expect(reply.headers.get('location')).toBe(`/v1/attachments/${reply.body.data.id}`)
      const response = await download(reply.body.data.id)
      expect(Number(response.headers.get('content-length'))).toBe(size)
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true)
    }
  })

  test('is handed out so that no browser shows or runs it', async () => {
    const { body } = await board.attach(card, { name: 'evil "ü\\.html', type: 'text/html', text: '<script>alert(1)</script>' })
    const { headers } = await download(body.data.id)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''/)
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(headers.get('content-type')).toBe('text/html')
  })

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\fakepath\\a.txt', 'a.txt'],
    ['..', 'file'],
    ['a\u202Etxt.exe', 'atxt.exe'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`${'x'.repeat(200)}\u{1f600}.png`, `${'x'.repeat(200)}\u{1f600}.png`],
    ['naïve ☃.txt', 'naïve ☃.txt'],
  ])('a name is only a name: %j', async (given, kept) => {
    const { id, name } = (await board.attach(card, { name: given })).body.data
    expect([name, (await download(id)).status]).toEqual([kept, 200])
  })

  test('ranges', async () => {
    const { body } = await board.attach(card, { text: '0123456789' })
    const get = async (range: string, more: Record<string, string> = {}) => {
      const response = await download(body.data.id, { range, ...more })
      return [response.status, await response.text(), response.headers.get('content-range')]
    }
    expect(await get('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10'])
    expect(await get('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10'])
    expect(await get('bytes=-3')).toEqual([206, '789', 'bytes 7-9/10'])
    expect(await get('bytes=0-99')).toEqual([206, '0123456789', 'bytes 0-9/10'])
    expect(await get('bytes=1-2,4-5')).toEqual([200, '0123456789', null])
    expect(await get('lines=1-2')).toEqual([200, '0123456789', null])
    for (const range of ['bytes=10-', 'bytes=99-100', 'bytes=-0']) {
      const response = await download(body.data.id, { range })
      expect([range, response.status, response.headers.get('content-range'), ((await response.json()) as any).error.code]).toEqual([
        range,
        416,
        'bytes */10',
        'range_not_satisfiable',
      ])
    }
    expect(await get('bytes=2-4', { 'if-range': '"other"' })).toEqual([200, '0123456789', null])
  })

  test('a download is checked by its ETag too, and HEAD has no bytes', async () => {
    const { body } = await board.attach(card)
    const first = await download(body.data.id)
    const etag = first.headers.get('etag')!
    await first.text()
    const again = await download(body.data.id, { 'if-none-match': etag })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const head = await service.send(ann!.read, 'HEAD', `/attachments/${body.data.id}/content`)
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '5'])
    const ranged = await service.send(ann!.read, 'HEAD', `/attachments/${body.data.id}/content`, undefined, { range: 'bytes=0-1' })
    expect([ranged.status, ranged.headers.get('content-length')]).toEqual([200, '5'])
  })

  test.each<[string, (form: FormData) => void, number, string | undefined]>([
    ['no file', (form) => form.delete('file'), 422, 'file'],
    ['two files', (form) => form.append('file', new File(['x'], 'b')), 422, 'file'],
    ['an unknown field', (form) => form.set('owner_id', 'x'), 422, 'owner_id'],
    ['an unknown file', (form) => form.set('other', new File(['x'], 'b')), 422, 'other'],
    [
      'a visibility said twice',
      (form) => (form.append('visibility', 'private'), form.append('visibility', 'workspace')),
      422,
      'visibility',
    ],
    ['a file without a filename', (form) => form.set('file', 'hello'), 422, 'file'],
    ['a name that is too long', (form) => form.set('file', new File(['x'], 'x'.repeat(256))), 422, 'file'],
    ['half a character in a name', (form) => form.set('file', new File(['x'], `${'x'.repeat(254)}\u{1f600}`)), 422, 'file'],
    ['a visibility that is none', (form) => form.set('visibility', 'public'), 422, 'visibility'],
    ['one byte too many', (form) => form.set('file', new File([Buffer.alloc(UPLOAD_BYTES + 1)], 'big')), 413, undefined],
  ])('%s is refused, and nothing is left behind', async (_what, spoil, status, path) => {
    const form = new FormData()
    form.set('file', new File(['hello'], 'a.txt'))
    spoil(form)
    const reply = await service.upload(ann!.write, `/cards/${card}/attachments`, form)
    expect([reply.status, reply.body.error.issues?.[0].path]).toEqual([status, path])
    expect(await board.all(`/cards/${card}/attachments`)).toEqual([])
    expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(ann!.workspaceId))
  })

  test('what announces itself as too large is refused before it is read', async () => {
    const reply = await service.send(ann!.write, 'POST', `/cards/crd_00000000000000000000/attachments`, 'x', {
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': '999999999',
    })
    expect([reply.status, reply.body.error.code]).toEqual([413, 'payload_too_large'])
  })

  test.each([
    ['multipart/form-data; boundary=x', 400, 'bad_request'],
    ['multipart/form-data; boundary="', 400, 'bad_request'],
    ['multipart/form-data; boundary=', 415, 'unsupported_media_type'],
    ['multipart/form-data; nothing=x', 415, 'unsupported_media_type'],
    ['multipart/mixed; boundary=x', 415, 'unsupported_media_type'],
  ])('a multipart body that is none: %s', async (type, status, code) => {
    const reply = await service.send(ann!.write, 'POST', `/cards/${card}/attachments`, '--x\r\ngarbage', { 'content-type': type })
    expect([reply.status, reply.body.error.code]).toEqual([status, code])
  })

  test('an upload where one may not see is not found, whatever the bytes', async () => {
    const hidden = await TestBoard.create(service, ann!, 'private')
    const its = await hidden.card(await hidden.column())
    const upload = (id: string) => board.attach(id, { token: bob!.write })
    expect(bytes(await upload(its))).toBe(bytes(await upload('crd_00000000000000000000')))
  })

  test('a private file is its owner’s to attach; attached it is everyone’s to read', async () => {
    const { file_id, id } = (await board.attach(card, { visibility: 'private' })).body.data
    const other = await board.card(await board.column())
    const attachBy = (person: Person) => service.send(person.write, 'POST', `/cards/${other}/attachments`, { file_id })
    expect((await download(id, {}, bob!.read)).status).toBe(200)
    expect((await attachBy(bob!)).status).toBe(404)
    expect((await service.send(bob!.write, 'DELETE', `/attachments/${id}`)).status).toBe(404)
    expect((await service.send(bob!.write, 'PATCH', `/files/${file_id}`, { visibility: 'workspace' })).status).toBe(404)
    expect((await service.send(ann!.write, 'PATCH', `/files/${file_id}`, { visibility: 'workspace' })).body.data).toEqual({
      id: file_id,
      owner_id: ann!.id,
      visibility: 'workspace',
      name: 'a.txt',
      content_type: 'text/plain',
      size: 5,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await service.send(bob!.write, 'PATCH', `/files/${file_id}`, { visibility: 'private' })).body.error).toMatchObject({
      code: 'forbidden',
      row: 'X2',
    })
    expect((await attachBy(bob!)).status).toBe(201)
    expect((await attachBy(bob!)).body.error.code).toBe('conflict')
    // Access to the file ends while it is attached: it can be read, and by others not be taken off.
    await service.send(ann!.write, 'PATCH', `/files/${file_id}`, { visibility: 'private' })
    expect((await download(id, {}, bob!.read)).status).toBe(200)
    expect((await service.send(bob!.write, 'DELETE', `/attachments/${id}`)).status).toBe(404)
  })

  test('a cover is an image on the card', async () => {
    const text = (await board.attach(card)).body.data.id
    const image = (await board.attach(card, { name: 'a.png', type: 'image/png' })).body.data.id
    const set = (attachment_id: string) => board.send('PUT', `/cards/${card}/cover`, { attachment_id })
    expect((await set(text)).status).toBe(409)
    expect((await set(image)).body.data.cover_attachment_id).toBe(image)
    const other = await board.card(await board.column())
    expect((await board.send('PUT', `/cards/${other}/cover`, { attachment_id: image })).status).toBe(404)
    expect((await board.delete(`/cards/${card}/cover`)).body.data).toEqual({ id: image, deleted: true })
    expect((await board.delete(`/cards/${card}/cover`)).body.data).toEqual({ id: null, deleted: true })
    expect((await board.read(card)).cover_attachment_id).toBeNull()
  })

  test('a conflict in the middle of an upload does not need the bytes twice', async () => {
    await board.get('/account')
    let rounds = 0
    const rename = async (): Promise<void> => {
      if (rounds++ > 2) return
      await board.ok(board.send('PATCH', `/boards/${board.id}`, { name: `round ${rounds}` }))
      service.store.beforeCommit = rename
    }
    service.store.beforeCommit = rename
    const reply = await board.attach(card, { text: 'once' })
    expect([reply.status, rounds > 1]).toEqual([201, true])
    expect(await (await download(reply.body.data.id)).text()).toBe('once')
  })
})
