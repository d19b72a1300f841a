import { pino } from 'pino'
import memoryDriver from 'unstorage/drivers/memory'
import { createApp, type App } from '../../src/app.ts'
import { createPasswords } from '../../src/auth/accounts/passwords.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { errorBody } from '../../src/http/envelope.ts'
import type { RecordedExample, RecordedExamples } from '../../src/http/openapi/source.ts'
import { ApiError, type ErrorCode } from '../../src/model/errors.ts'
import type { RandomSource } from '../../src/model/ids.ts'
import { limits } from '../../src/model/limits.ts'
import { namesInPath, type Operation } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { createDerivations } from '../../src/resources/derived.ts'
import { createBlobs } from '../../src/store/blobs.ts'
import { decorateStore, Contention, StorageUnavailable } from '../../src/store/port.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { transact } from '../../src/store/transact.ts'
import { Targets } from '../../src/webhooks/targets.ts'

/** The user who sends the requests, and their board. */
const CALLER = 'Mira Patel'
const BOARD = 'Website relaunch'
/** A board that they can read, but did not create. */
const OTHER_BOARD = 'Product roadmap'
const CARD = 'Landing page'
/** Who may do what the caller may not. */
const OWNER = 'Olivia Stone'
const OF_OWNERS: ReadonlySet<string> = new Set(['access.search_subject'])
const ABSENT = 'brd_00000000000000000000'
const REQUEST_ID = '4a2f0c1e-8f0b-4a57-9f0e-2f6d4f3b1c55'

/** The header with the epoch of the first claim of a card. */
const FIRST_CLAIM = { 'if-claim': '1' }

/** The ids that the paths and the bodies of the examples name. */
type Ids = Record<string, string>

/**
 * Records the examples of the document: each operation is called once on the demo data, with the example of its row. The clock
 * and the random source are fixed, so that the same code gives the same examples.
 */
export async function recordExamples(rows: readonly Operation[] = operations): Promise<RecordedExamples> {
  const recorder = await Recorder.start()
  const recorded: Record<string, RecordedExample> = {}
  // What removes something comes last, and what has the longest path first: that is on something that is removed later.
  const lengthOf = ({ path }: Operation) => path.split('/').length
  const removals = rows.filter(({ method }) => method === 'DELETE').toReversed()
  const ordered = [...rows.filter(({ method }) => method !== 'DELETE'), ...removals.toSorted((a, b) => lengthOf(b) - lengthOf(a))]
  for (const row of ordered) {
    const example = await recorder.record(row)
    if (example !== undefined) recorded[row.id] = example
  }
  const sorted = rows.flatMap(({ id }) => (recorded[id] === undefined ? [] : [[id, recorded[id]] as const]))
  return { operations: Object.fromEntries(sorted), errors: await recorder.recordErrors() }
}

/** The error that the storage fails with at present. */
interface Failing {
  error?: Error
}

/** The service on the demo data. */
class Recorder {
  readonly #app: App
  readonly #token: string
  readonly #readToken: string
  readonly #ownerToken: string
  readonly #ids: Ids
  readonly #failing: Failing

  private constructor(app: App, failing: Failing, tokens: { caller: string; read: string; owner: string }, ids: Ids) {
    this.#app = app
    this.#failing = failing
    this.#token = tokens.caller
    this.#readToken = tokens.read
    this.#ownerToken = tokens.owner
    this.#ids = ids
  }

  static async start(): Promise<Recorder> {
    let now = Date.parse('2026-11-20T12:00:00.000Z')
    const clock = () => (now += 1000)
    const random = repeatableRandom()
    const memory = createMemoryStore(createDerivations())
    const failing: Failing = {}
    const store = decorateStore(memory, {
      async read(partition, request) {
        if (failing.error !== undefined) throw failing.error
        return memory.read(partition, request)
      },
    })
    const passwords = createPasswords({ memoryCost: 8, timeCost: 1, parallelism: 1 })
    const quotas = { token: 10_000, workspace: 10_000, address: 10_000 }
    const app = createApp({
      store,
      clock,
      random,
      passwords,
      blobs: createBlobs(memoryDriver()),
      log: pino({ level: 'silent' }),
      rateLimits: { quotas },
      // Nothing is sent.
      webhookTargets: Targets.from(undefined, { lookup: async () => [{ address: '192.88.98.1', family: 4 }] }),
      sendDelivery: async () => ({ status: 204 }),
    })
    const demo = await seedDemo({ store, clock, random, passwords }, app.fetch, readWorld())
    const { user_id, workspace_id } = demo.tokens.find(({ display_name }) => display_name === CALLER)!
    const issue = async (scope: string, userId = user_id) =>
      (
        await transact(store, workspace_id, random, (tx) =>
          issueToken(tx, { userId, name: 'Release agent', scopes: [scope] }, { store, clock, random }),
        )
      ).plaintext
    const boardId = (name: string) => demo.boards.find((found) => found.name === name)!.id
    const other = demo.people.find(({ display_name }) => display_name === 'Nora Lindqvist')!.user_id
    const tokens = {
      caller: await issue('kanban:admin'),
      read: await issue('kanban:read'),
      owner: await issue('kanban:read', demo.people.find(({ display_name }) => display_name === OWNER)!.user_id),
    }
    const recorder = new Recorder(app, failing, tokens, {
      board_id: boardId(BOARD),
      other_board_id: boardId(OTHER_BOARD),
      user_id: other,
    })
    await recorder.#findIds()
    return recorder
  }

  /** Finds the ids of what the examples are about. */
  async #findIds(): Promise<void> {
    const list = async (path: string) => ((await this.#send('GET', path)).body as { data: { id: string; title?: string }[] }).data
    const ids = this.#ids
    const cards = await list(`/boards/${ids['board_id']}/cards?limit=100`)
    ids['card_id'] = cards.find(({ title }) => title === CARD)!.id
    ids['blocker_id'] = cards.find(({ title }) => title !== CARD)!.id
    ids['column_id'] = (await list(`/boards/${ids['board_id']}/columns`))[2]!.id
    ids['label_id'] = (await list(`/boards/${ids['board_id']}/labels`))[1]!.id
    ids['subtask_id'] = (await list(`/cards/${ids['card_id']}/subtasks`))[2]!.id
    const [attachment, text] = (await list(`/cards/${ids['card_id']}/attachments`)) as { id: string; file_id: string }[]
    Object.assign(ids, { attachment_id: attachment!.id, file_id: text!.file_id })
    const hook = { url: 'https://ci.example/hooks/lanekeeper', kinds: ['card', 'work'] }
    const webhook = await this.#send('POST', `/boards/${ids['board_id']}/webhooks`, hook)
    ids['webhook_id'] = (webhook.body as { data: { id: string } }).data.id
    const comment = await this.#send('POST', `/cards/${ids['card_id']}/comments`, { body: 'The wireframe is ready.' })
    ids['comment_id'] = (comment.body as { data: { id: string } }).data.id
  }

  /** @returns undefined if the response has no JSON */
  async record({ id, method, path, example, data, requiresClaim, takesUpload }: Operation): Promise<RecordedExample | undefined> {
    if (data.def.type === 'undefined') return undefined
    const ids = { ...this.#ids, ...(await this.#special(id)) }
    const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name]!)
    // The last attempts of a webhook have no pages.
    const query = data.def.type === 'array' && id !== 'webhooks.deliveries' ? '?limit=2' : ''
    if (takesUpload) {
      const form = new FormData()
      form.set('file', new File(['Bring the keys.'], 'notes.txt', { type: 'text/plain' }))
      const reply = await this.#send(method, fill(path), form)
      return { params: { card_id: ids['card_id']! }, response: reply.body }
    }
    const body = example.body === undefined ? undefined : (JSON.parse(fill(JSON.stringify(example.body))) as unknown)
    const headers = { ...(requiresClaim && FIRST_CLAIM), ...(OF_OWNERS.has(id) && { authorization: `Bearer ${this.#ownerToken}` }) }
    const reply = await this.#send(method, fill(path) + query, body, headers)
    if (reply.status >= 300) throw new Error(`the example of ${id} failed: ${reply.status} ${JSON.stringify(reply.body)}`)
    const names = namesInPath(path)
    const params = Object.fromEntries(names.map((name) => [name, ids[name]!]))
    return { params, ...(body === undefined ? {} : { body }), response: reply.body }
  }

  /** What has to exist before an operation is called. @returns the ids that it is called with */
  async #special(id: string): Promise<Ids> {
    const { board_id, card_id, blocker_id, user_id, label_id } = this.#ids as Record<string, string>
    const create = async (path: string, body: object) => ((await this.#send('POST', path, body)).body as { data: { id: string } }).data.id
    const createCard = (title: string) => create(`/boards/${board_id}/cards`, { column_id: this.#ids['column_id'], title })
    if (id === 'attachments.attach' || id === 'attachments.upload') return { card_id: await createCard('Texts') }
    if (/^claims\.(?!take_next)|^cards\.(answer|retry)/.test(id)) {
      const claimed = await createCard('Press release')
      if (id !== 'claims.take') await this.#send('PUT', `/cards/${claimed}/claim`, {})
      if (id === 'cards.answer') await this.#send('POST', `/cards/${claimed}/claim/question`, { question: 'Which logo?' }, FIRST_CLAIM)
      if (id === 'cards.retry') await this.#send('POST', `/cards/${claimed}/claim/failure`, { reason: 'No network.' }, FIRST_CLAIM)
      return { card_id: claimed }
    }
    if (id === 'cards.unassign') await this.#send('PUT', `/cards/${card_id}/assignees/${user_id}`)
    if (id === 'cards.remove_label') await this.#send('PUT', `/cards/${card_id}/labels/${label_id}`)
    if (id === 'blockers.remove') await this.#send('PUT', `/cards/${card_id}/blockers/${blocker_id}`)
    if (id === 'board_members.remove') await this.#send('PUT', `/boards/${board_id}/members/${user_id}`)
    return {}
  }

  /** A response with each error that a request can get. */
  async recordErrors(): Promise<Record<string, unknown>> {
    const { other_board_id } = this.#ids
    const requests: Partial<Record<ErrorCode, () => Promise<Reply>>> = {
      bad_request: () => this.#send('POST', '/boards', '{"name":'),
      unauthorized: () => this.#send('GET', '/account', undefined, { authorization: 'Bearer unknown' }),
      insufficient_scope: () => this.#send('POST', '/boards', { name: 'Spring' }, { authorization: `Bearer ${this.#readToken}` }),
      forbidden: () => this.#send('PUT', `/boards/${other_board_id}/visibility`, { visibility: 'private' }),
      conflict: () => this.#removeCreator(),
      idempotency_key_reused: () => this.#reuseKey(),
      not_found: () => this.#send('GET', `/boards/${ABSENT}`),
      precondition_failed: () =>
        this.#send('PATCH', `/boards/${other_board_id}`, { name: 'Spring' }, { 'if-match': '"00000000000000000000"' }),
      precondition_required: () => this.#failWithoutClaim(),
      payload_too_large: () => this.#send('POST', '/boards', ' '.repeat(limits.jsonBytes + 1)),
      unsupported_media_type: () => this.#send('POST', '/boards', 'name=Spring', { 'content-type': 'application/x-www-form-urlencoded' }),
      validation_failed: () => this.#send('POST', '/boards', { name: '', colour: '#ff0000' }),
      contention: () => this.#sendWhile(new Contention()),
      unavailable: () => this.#sendWhile(new StorageUnavailable('the storage is not reachable')),
      internal_error: () => this.#sendWhile(new Error('unexpected')),
    }
    // What takes too long to provoke has no members of its kind.
    const others = (
      [
        'request_timeout',
        'cursor_expired',
        'idempotency_key_in_use',
        'range_not_satisfiable',
        'rate_limited',
        'headers_too_large',
        'insufficient_storage',
      ] as const
    ).map((code) => [code, errorBody(REQUEST_ID, new ApiError(code))] as const)
    const recorded: Record<string, unknown> = Object.fromEntries(others)
    for (const [code, request] of Object.entries(requests)) {
      const { body } = await request()
      const { error } = body as { error: { code: string } }
      if (error.code !== code) throw new Error(`the example of ${code} failed: ${JSON.stringify(body)}`)
      recorded[code] = { error: { ...error, request_id: REQUEST_ID } }
    }
    return recorded
  }

  async #removeCreator(): Promise<Reply> {
    const { user_id } = ((await this.#send('GET', '/account')).body as { data: { user_id: string } }).data
    const { id } = ((await this.#send('POST', '/boards', { name: 'Autumn' })).body as { data: { id: string } }).data
    return this.#send('DELETE', `/boards/${id}/members/${user_id}`)
  }

  async #failWithoutClaim(): Promise<Reply> {
    const { body } = await this.#send('GET', `/boards/${this.#ids['other_board_id']}/cards?limit=1`)
    return this.#send('POST', `/cards/${(body as { data: { id: string }[] }).data[0]!.id}/claim/failure`, { reason: 'No network.' })
  }

  async #reuseKey(): Promise<Reply> {
    const headers = { 'idempotency-key': '"7d1c2a4e-0f5b-4a57-9f0e-2f6d4f3b1c55"' }
    await this.#send('POST', '/boards', { name: 'Autumn' }, headers)
    return this.#send('POST', '/boards', { name: 'Winter' }, headers)
  }

  /** Sends a request while the storage fails. */
  async #sendWhile(error: Error): Promise<Reply> {
    this.#failing.error = error
    return this.#send('GET', '/account').finally(() => delete this.#failing.error)
  }

  async #send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const init: RequestInit = {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
    }
    if (body !== undefined) init.body = typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body)
    const response = await this.#app.fetch(new Request(`http://localhost/v1${path}`, init))
    // The ids of requests differ in each run.
    const text = (await response.text()).replaceAll(/"request_id":"[^"]*"/g, `"request_id":"${REQUEST_ID}"`)
    const reply = { status: response.status, body: JSON.parse(text) as unknown }
    await this.#app.services.usage.settled()
    return reply
  }
}

interface Reply {
  readonly status: number
  readonly body: unknown
}

/** A random source that returns the same bytes in each run (xorshift). */
function repeatableRandom(): RandomSource {
  let state = 0x2545f491
  return (bytes) =>
    Uint8Array.from({ length: bytes }, () => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return state & 0xff
    })
}
