import { expect } from 'vitest'

/** What a client returns: the body of the response, whatever the client does with failures. */
export type Body = any

/**
 * The calls of the scenario, as one client makes them. A failure is returned and not thrown: `{ error }`.
 * All clients send `epoch` as If-Claim and `etag` as If-Match.
 */
export interface Calls {
  createBoard(name: string): Promise<Body>
  createColumn(boardId: string, name: string): Promise<Body>
  createLabel(boardId: string, name: string): Promise<Body>
  createCard(boardId: string, card: { column_id: string; title: string; label_ids: string[] }): Promise<Body>
  /** Two columns and two extras: lists in a query. */
  search(query: { q: string; board_id: string; column_id: string[]; include: ('claim' | 'etag')[] }): Promise<Body>
  claim(cardId: string): Promise<Body>
  ask(cardId: string, epoch: string, question: string): Promise<Body>
  answer(cardId: string, body: string): Promise<Body>
  /** The card can be taken again at once. */
  fail(cardId: string, epoch: string, reason: string): Promise<Body>
  complete(cardId: string, epoch: string): Promise<Body>
  rename(cardId: string, etag: string, title: string): Promise<Body>
  upload(cardId: string, file: File): Promise<Body>
  /** The bytes, as the client has them. */
  download(attachmentId: string): Promise<unknown>
  makePrivate(boardId: string): Promise<Body>
  deleteBoard(boardId: string): Promise<Body>
}

/** Makes the calls of a client. @param url of the API, with `/v1` */
export type Connect = (url: string, token: string) => Calls | Promise<Calls>

/** A PNG of one pixel, in base64. */
export const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const TEXT = 'Bring the keys: Straße 7.\n'

/**
 * What an agent does in a day, and three refusals.
 * @param mine the client with a token of Olivia with the scope `kanban:write`
 * @param others the same with a token of Adrian, a member of the same workspace, with the scope `kanban:admin`
 */
export async function playScenario(mine: Calls, others: Calls): Promise<void> {
  const boardId = idOf(await mine.createBoard('Spring'))
  const [todo, doing] = [idOf(await mine.createColumn(boardId, 'To do')), idOf(await mine.createColumn(boardId, 'Doing'))]
  const labelId = idOf(await mine.createLabel(boardId, 'urgent'))
  const created = await mine.createCard(boardId, { column_id: todo, title: 'alpha beta gamma', label_ids: [labelId] })
  const cardId = idOf(created)
  expect(created.data.label_ids).toEqual([labelId])

  const find = async () => {
    const found = await mine.search({ q: 'gamma ALPHA', board_id: boardId, column_id: [todo, doing], include: ['claim', 'etag'] })
    expect(found.data, JSON.stringify(found)).toHaveLength(1)
    return found.data[0]
  }
  const { etag } = await find()
  expect(etag).toMatch(/^".+"$/)

  const asked = epochOf(await mine.claim(cardId))
  expect((await find()).claim.epoch).toBe(Number(asked))
  expect(await mine.ask(cardId, asked, 'Which color?')).toHaveProperty('data.kind', 'question')
  expect(await others.answer(cardId, 'Green.')).toHaveProperty('data.kind', 'answer')
  const failed = epochOf(await mine.claim(cardId))
  expect(await mine.fail(cardId, failed, 'The paint is empty.')).toHaveProperty('data.attempts', 1)
  const done = epochOf(await mine.claim(cardId))
  // A claim that has ended allows no write.
  expect(codeOf(await mine.complete(cardId, failed))).toBe('precondition_failed')
  expect((await mine.complete(cardId, done)).data.completed_at).not.toBeNull()

  const picture = await mine.upload(cardId, new File([Buffer.from(PICTURE, 'base64')], 'photo "1" ü.png'))
  expect(picture.data, JSON.stringify(picture)).toMatchObject({ name: 'photo "1" ü.png', content_type: 'image/png' })
  const notes = await mine.upload(cardId, new File([TEXT], 'notes.txt', { type: 'text/plain' }))
  expect(notes.data).toMatchObject({ name: 'notes.txt', content_type: 'text/plain' })
  expect(await textOf(await mine.download(idOf(notes)))).toBe(TEXT)

  // The ETag identifies the card before it was completed.
  expect(codeOf(await mine.rename(cardId, etag, 'stale'))).toBe('precondition_failed')
  expect(await mine.rename(cardId, (await find()).etag, 'alpha gamma, done')).toHaveProperty('data.title', 'alpha gamma, done')
  expect(codeOf(await others.makePrivate(boardId))).toBe('forbidden')
  expect(codeOf(await mine.deleteBoard(boardId))).toBe('insufficient_scope')
}

function idOf(body: Body): string {
  expect(body.data?.id, JSON.stringify(body)).toMatch(/^[a-z]{3}_[0-9a-z]{20}$/)
  return body.data.id
}

function epochOf(body: Body): string {
  expect(body.data?.epoch, JSON.stringify(body)).toBeGreaterThan(0)
  return String(body.data.epoch)
}

function codeOf(body: Body): string {
  expect(body.error, JSON.stringify(body)).toBeDefined()
  return body.error.code
}

async function textOf(bytes: unknown): Promise<string> {
  return typeof bytes === 'string' ? bytes : new Response(bytes as ConstructorParameters<typeof Response>[0]).text()
}
