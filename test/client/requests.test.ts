import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { ApiError, createClient, InvalidInput, type Client } from '../../src/client/client.ts'
import { FakeService, refused, success } from '../support/fake-service.ts'

const DONE = success({ id: 'crd_1' })
const thrownBy = (service: FakeService) =>
  service
    .client()
    .account.read()
    .catch((thrown: unknown) => thrown)

test('an input is distributed to the path, the query and the body', async () => {
  const service = new FakeService(DONE)
  const client = service.client()
  await client.cards.create({ board_id: 'brd_1', column_id: 'col_1', title: 'Sow' }, { dryRun: true, ifMatch: '"a"' })
  await client.boards.read({ board_id: 'brd_1', include: ['columns', 'counts'] }, { ifNoneMatch: '"b"' })
  await client.cards.archive({ card_id: 'crd_1' })
  expect(service.sent.map(({ method, url, body }) => [method, url.slice('http://service.test'.length), body])).toEqual([
    ['POST', '/v1/boards/brd_1/cards?dry_run=true', '{"column_id":"col_1","title":"Sow"}'],
    ['GET', '/v1/boards/brd_1?include=columns%2Ccounts', null],
    ['POST', '/v1/cards/crd_1/archive', null],
  ])
  const [create, , archive] = service.sent.map(({ headers }) => Object.fromEntries(headers))
  expect(create).toEqual({ authorization: 'Bearer lk_pat_test', 'content-type': 'application/json', 'if-match': '"a"' })
  expect(Object.keys(archive!)).toEqual(['authorization', 'idempotency-key'])
})

test('members that are null are sent, and those that are undefined are not', async () => {
  const service = new FakeService(DONE)
  await service.client().cards.update({ card_id: 'crd_1', due_at: null, title: undefined as never })
  expect(service.sent[0]!.body).toBe('{"due_at":null}')
})

const QUERY = new InvalidInput('"q" must be a text, a number, true or false, or a list of texts')
const FILE = new InvalidInput('"file" must be a Blob or a File, which can be sent again')
const search = (q: unknown) => (lk: Client) => lk.cards.search({ q: q as never })
const upload = (file: unknown) => (lk: Client) => lk.attachments.upload({ card_id: 'crd_1', file: file as never })
const unassign = (id: unknown) => (lk: Client) => lk.cards.unassign({ card_id: 'crd_1', user_id: id as string })
// The text of a value could be a valid one, an id must not lead to another path, and what was read once cannot be sent again.
test.each<[string, (lk: Client) => Promise<unknown>, unknown]>([
  ...[null, {}, new Date(0)].map((q) => [`${JSON.stringify(q)} in the query`, search(q), QUERY] as never),
  ['an upload of a stream', upload(new Blob(['x']).stream()), FILE],
  ['an upload of a stream of Node.js', upload(Readable.from(['x'])), FILE],
  ['an upload of a buffer', upload(Buffer.from('x')), FILE],
  ...['.', '..', '', undefined].map((id) => [`the id ${JSON.stringify(id)}`, unassign(id), TypeError] as never),
])('%s is refused before it is sent', async (_title, call, error) => {
  const service = new FakeService(DONE)
  await expect(call(service.client())).rejects.toThrow(error as never)
  expect(service.sent).toEqual([])
})

test('an id is encoded', async () => {
  const service = new FakeService(DONE)
  await service.client().cards.read({ card_id: '../boards?x#y' })
  expect(service.sent[0]!.url).toBe('http://service.test/v1/cards/..%2Fboards%3Fx%23y')
})

test.each(['http://service.test', 'http://service.test/', 'http://service.test/v1', 'http://service.test/v1/'])(
  'the URL of a service can have /v1: %s',
  async (url) => {
    const service = new FakeService(DONE)
    await service.client({ url }).account.read()
    expect(service.sent[0]!.url).toBe('http://service.test/v1/account')
  },
)

test('no redirect is followed: it would send the token elsewhere, or turn a write into a read', async () => {
  let redirect: unknown
  const fetch = async (_url: unknown, init?: RequestInit) => {
    redirect = init!.redirect
    return DONE.clone()
  }
  await createClient({ url: 'http://service.test', token: 'x', fetch: fetch as typeof globalThis.fetch }).account.read()
  expect(redirect).toBe('error')
})

test('a result has the data, the ETag, the request id and whether it was replayed', async () => {
  const headers = { etag: '"7"', 'idempotent-replayed': 'true' }
  const service = new FakeService(success({ id: 'crd_1' }, { status: 201, headers }))
  const result = await service.client().cards.create({ board_id: 'brd_1', column_id: 'col_1', title: 'Sow' })
  expect(result).toMatchObject({ status: 201, data: { id: 'crd_1' }, etag: '"7"', requestId: 'request', replayed: true })
})

test('a copy that is current gives 304 and no data', async () => {
  const service = new FakeService(new Response(null, { status: 304, headers: { etag: '"7"' } }))
  const result = await service.client().cards.read({ card_id: 'crd_1' }, { ifNoneMatch: '"7"' })
  expect(service.sent[0]!.headers.get('if-none-match')).toBe('"7"')
  expect(result).toMatchObject({ status: 304, data: undefined, etag: '"7"' })
})

test('an error has the code, the status, the request id and its further members', async () => {
  const issues = [{ in: 'body', path: 'title', message: 'is required' }]
  const service = new FakeService(refused(422, 'validation_failed', { issues }))
  const error = await thrownBy(service)
  expect(error).toBeInstanceOf(ApiError)
  if (!(error instanceof ApiError) || !error.is('validation_failed')) return expect.unreachable()
  expect(error.members.issues).toEqual(issues)
  expect(error.is('conflict')).toBe(false)
  expect(error).toMatchObject({ code: 'validation_failed', status: 422, requestId: 'request', message: 'It is validation_failed.' })
})

test('no error contains the token', async () => {
  for (const step of ['cut', refused(401, 'unauthorized')] as const) {
    const error = await thrownBy(new FakeService(step))
    expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain('lk_pat_')
  }
})

test('all items of a list are read page by page', async () => {
  const pages = [['a', 'b'], [], ['c']].map((ids, i) =>
    success(
      ids.map((id) => ({ id })),
      { page: { next_cursor: i < 2 ? `c${i}` : null } },
    ),
  )
  const service = new FakeService(pages[0]!, 'cut', pages[1]!, pages[2]!)
  const found: string[] = []
  for await (const { id } of service.client().cards.list.all({ board_id: 'brd_1', q: 'x y' })) found.push(id)
  expect(found).toEqual(['a', 'b', 'c'])
  expect(service.sent.map(({ url }) => new URL(url).search)).toEqual([
    '?limit=100&q=x+y',
    '?limit=100&q=x+y&cursor=c0',
    '?limit=100&q=x+y&cursor=c0',
    '?limit=100&q=x+y&cursor=c1',
  ])
})
