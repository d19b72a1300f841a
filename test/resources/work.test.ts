import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { indexes } from '../../src/store/indexes.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { inTime } from '../support/in-time.ts'
import type { Reply } from '../support/service.ts'

const SECOND = 1000
/** The default times between attempts, in seconds. */
const DELAYS = [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
const FRESH = { attempts: 0, reason: null, failed_at: null, not_before: null, question_id: null }

// src/http/claims.md, "Work that fails or asks".
describe.each(drivers)('the work on cards, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const send = (method: string, path: string, body?: unknown, headers?: Record<string, string>, token = setup.bob.write) =>
    setup.service.send(token, method, path, body, headers)
  const held = (epoch: number) => ({ 'if-claim': String(epoch) })
  const wait = (seconds: number) => void (setup.service.now += seconds * SECOND)
  const at = (seconds = 0) => new Date(setup.service.now + seconds * SECOND).toISOString()
  const next = (body: object = {}, query = '') => send('POST', `/boards/${setup.board.id}/claims${query}`, body)
  const take = (id = setup.cardId, ttl?: number) => send('PUT', `/cards/${id}/claim`, { ttl })
  const work = async (id = setup.cardId) => (await send('GET', `/cards/${id}?include=work`)).body.data.work
  const end = async (path: string, body: object, id = setup.cardId): Promise<Reply> => {
    const { epoch } = (await take(id)).body.data
    return send('POST', `/cards/${id}/claim/${path}`, body, held(epoch))
  }
  const fail = (id = setup.cardId, body: object = {}) => end('failure', { reason: 'No network.', ...body }, id)
  const failTimes = async (times: number, id = setup.cardId) => {
    for (let i = 0; i < times; i++) expect((await fail(id, { retry_after: 0 })).status).toBe(200)
  }
  const ask = (id = setup.cardId) => end('question', { question: 'Which logo?' }, id)
  const feed = async () => (await setup.board.get(`/boards/${setup.board.id}/changes`)).body.data
  const works = async () =>
    (await feed())
      .filter(({ kind }: { kind: string }) => kind === 'work')
      .map(({ id, action, attempts, reason }: Record<string, unknown>) => [id, action, attempts, reason].filter((one) => one !== undefined))

  test('of a card that nobody has claimed is ready', async () => {
    expect(await work()).toEqual({ state: 'ready', ...FRESH })
  })

  describe('an attempt that fails', () => {
    test('needs If-Claim with the epoch: 428 without, 412 with another, also in a batch', async () => {
      const { epoch } = (await take()).body.data
      for (const [name, body] of [
        ['failure', { reason: 'x' }],
        ['question', { question: 'x' }],
      ] as const) {
        const path = `/cards/${setup.cardId}/claim/${name}`
        expect((await send('POST', path, body)).body.error.code).toBe('precondition_required')
        expect((await send('POST', path, body, held(epoch + 1))).status).toBe(412)
        expect((await send('POST', path, body, held(epoch), setup.ann.write)).status).toBe(412)
        const operation = { operation: name === 'failure' ? 'claims.fail' : 'claims.ask', params: { card_id: setup.cardId }, body }
        const batch = (members: object) => send('POST', `/boards/${setup.board.id}/batch`, { operations: [{ ...operation, ...members }] })
        expect([(await batch({})).status, (await batch({ if_claim: epoch + 1 })).status]).toEqual([428, 412])
      }
      expect((await work()).state).toBe('claimed')
    })

    test.each(['', '  ', 'x'.repeat(2001), null, 7])('has a reason and a question of 1 to 2,000 characters: %j is 422', async (text) => {
      expect({ fail: (await fail(undefined, { reason: text })).status, ask: (await end('question', { question: text })).status }).toEqual({
        fail: 422,
        ask: 422,
      })
    })

    test('is tried again after 30 seconds, twice as many after each further attempt, and at most an hour', async () => {
      await setup.board.patch(`/columns/${setup.columnId}`, { max_attempts: null })
      for (const [i, seconds] of DELAYS.entries()) {
        const reply = await fail()
        const expected = { attempts: i + 1, reason: 'No network.', failed_at: at(), not_before: at(seconds), question_id: null }
        expect(reply.body).toEqual({ data: { state: 'retrying', ...expected } })
        expect(reply.headers.get('etag')).toBeNull()
        expect(await work()).toEqual({ state: 'retrying', ...expected })
        wait(seconds - 1)
        expect((await next()).body.data).toBeNull()
        wait(1)
        expect(await work()).toEqual({ state: 'ready', ...expected })
        expect((await next({}, '?dry_run=true')).body.data.id).toBe(setup.cardId)
      }
    })

    test('states when it is tried again: from at once to a day', async () => {
      expect((await fail(undefined, { retry_after: 0 })).body.data).toMatchObject({ state: 'ready', not_before: null })
      expect((await fail(undefined, { retry_after: 86_400 })).body.data.not_before).toBe(at(86_400))
      for (const retry_after of [-1, 86_401, 1.5, '1']) expect((await fail(undefined, { retry_after })).status).toBe(422)
    })

    test('can be tried again by its id at once, and its time is forgotten then', async () => {
      await fail()
      expect((await take()).status).toBe(200)
      expect(await work()).toMatchObject({ state: 'claimed', attempts: 1, not_before: null })
      await send('DELETE', `/cards/${setup.cardId}/claim`)
      expect(await work()).toMatchObject({ state: 'ready', attempts: 1, reason: 'No network.' })
    })

    test('leaves the card and its ETag alone', async () => {
      const before = await setup.board.get(`/cards/${setup.cardId}`)
      await failTimes(1)
      const after = await setup.board.get(`/cards/${setup.cardId}`)
      expect({ body: after.body, etag: after.headers.get('etag') }).toEqual({ body: before.body, etag: before.headers.get('etag') })
    })
  })

  describe('a card is stuck', () => {
    test('after as many attempts in a row as its column allows: nobody gets it, until somebody retries it', async () => {
      await failTimes(4)
      expect((await work()).state).toBe('ready')
      expect((await fail()).body.data).toMatchObject({ state: 'stuck', attempts: 5 })
      wait(3600)
      expect((await next()).body.data).toBeNull()
      const refused = await take()
      expect({ status: refused.status, work: refused.body.error.work }).toEqual({ status: 409, work: await work() })
      const { body } = await send('POST', `/cards/${setup.cardId}/retry`)
      expect(body).toEqual({ data: { state: 'ready', ...FRESH } })
      expect((await send('POST', `/cards/${setup.cardId}/retry`)).body).toEqual(body)
      expect((await next()).body.data.id).toBe(setup.cardId)
    })

    test('when it was claimed under a lower maximum; a claim that is taken from then on counts by the present one', async () => {
      await setup.board.patch(`/columns/${setup.columnId}`, { max_attempts: 2 })
      await failTimes(2)
      await setup.board.patch(`/columns/${setup.columnId}`, { max_attempts: null })
      expect((await work()).state).toBe('stuck')
      await send('POST', `/cards/${setup.cardId}/retry`)
      await failTimes(7)
      await setup.board.patch(`/columns/${setup.columnId}`, { max_attempts: 3 })
      expect((await work()).state).toBe('ready')
      // Whoever takes it has one attempt, and nothing is lost by a release.
      await take()
      await send('DELETE', `/cards/${setup.cardId}/claim`)
      expect((await work()).state).toBe('ready')
      expect((await fail()).body.data).toMatchObject({ state: 'stuck', attempts: 8 })
    })

    test.each([0, 101, 1.5, '5'])('max_attempts %j is 422', async (max_attempts) => {
      expect((await setup.board.send('PATCH', `/columns/${setup.columnId}`, { max_attempts })).status).toBe(422)
      expect((await setup.board.send('POST', `/boards/${setup.board.id}/columns`, { name: 'x', max_attempts })).status).toBe(422)
    })

    const successes: readonly (readonly [how: string, request: () => Promise<unknown>])[] = [
      ['a completion', () => setup.board.put(`/cards/${setup.cardId}/completion`, { completed: true })],
      ['a move to another column', async () => setup.board.post(`/cards/${setup.cardId}/move`, { column_id: await setup.board.column() })],
    ]
    test.each(successes)('no more after %s', async (_how, request) => {
      await failTimes(5)
      await request()
      expect(await work()).toMatchObject(FRESH)
      await setup.board.put(`/cards/${setup.cardId}/completion`, { completed: false })
      expect((await next()).body.data.id).toBe(setup.cardId)
      expect((await works()).filter(([, action]: unknown[]) => action === 'retried')).toEqual([])
    })

    test('still after a move within its column, and after it was archived and restored', async () => {
      const other = await setup.board.card(setup.columnId)
      await failTimes(5)
      await setup.board.post(`/cards/${setup.cardId}/move`, { after: other })
      for (const how of ['archive', 'restore']) await setup.board.post(`/cards/${setup.cardId}/${how}`)
      expect((await work()).state).toBe('stuck')
      expect({ first: (await next()).body.data.id, second: (await next()).body.data }).toEqual({ first: other, second: null })
      await send('POST', `/cards/${setup.cardId}/retry`)
      expect((await next()).body.data.id).toBe(setup.cardId)
    })
  })

  describe('a claim that ends without an outcome', () => {
    test('counts when it has run out, at once and without a write: the card is free, until it is stuck', async () => {
      for (let attempts = 1; attempts <= 5; attempts++) {
        expect((await take(setup.cardId, 10)).status).toBe(200)
        const failed_at = at(10)
        wait(10)
        const state = attempts < 5 ? 'ready' : 'stuck'
        expect(await work()).toEqual({ ...FRESH, state, attempts, failed_at })
        expect((await next({}, '?dry_run=true')).body.data === null).toBe(attempts === 5)
        wait(7)
      }
      expect((await take()).status).toBe(409)
    })

    test('counts when its token ends, from that time on', async () => {
      const token = await setup.service.token(setup.workspaceId, setup.bob.id, ['kanban:write'])
      await send('PUT', `/cards/${setup.cardId}/claim`, {}, undefined, token)
      wait(5)
      const failed_at = at()
      await setup.service.app.fetch(new Request('http://localhost/revoke', { method: 'POST', body: new URLSearchParams({ token }) }))
      wait(5)
      expect(await work()).toEqual({ ...FRESH, state: 'ready', attempts: 1, failed_at })
      wait(3600)
      expect((await work()).failed_at).toBe(failed_at)
    })

    const outcomes: readonly (readonly [how: string, request: () => Promise<unknown>])[] = [
      ['released', () => send('DELETE', `/cards/${setup.cardId}/claim`)],
      ['archived', () => setup.board.post(`/cards/${setup.cardId}/archive`)],
      ['archived with its column', () => setup.board.post(`/columns/${setup.columnId}/archive`)],
      ['moved to another column', async () => setup.board.post(`/cards/${setup.cardId}/move`, { column_id: await setup.board.column() })],
      ['completed', () => setup.board.put(`/cards/${setup.cardId}/completion`, { completed: true })],
    ]
    test.each(outcomes)('is no attempt if the card was %s', async (_how, request) => {
      await take(setup.cardId, 10)
      await request()
      wait(10)
      expect(await work()).toMatchObject({ attempts: 0, failed_at: null })
    })

    const writes: readonly (readonly [how: string, further: readonly string[], request: () => Promise<unknown>])[] = [
      ['its change', [], () => setup.board.patch(`/cards/${setup.cardId}`, { title: 'New' })],
      ['an assignment', [], () => setup.board.put(`/cards/${setup.cardId}/assignees/${setup.ann.id}`)],
      ['the next claim', [], () => take()],
      ['its completion', [], () => setup.board.put(`/cards/${setup.cardId}/completion`, { completed: true })],
      ['its move', [], async () => setup.board.post(`/cards/${setup.cardId}/move`, { column_id: await setup.board.column() })],
      [
        'a move within its column',
        [],
        async () => setup.board.post(`/cards/${setup.cardId}/move`, { after: await setup.board.card(setup.columnId) }),
      ],
      ['its archiving', [], () => setup.board.post(`/cards/${setup.cardId}/archive`)],
      ['a retry', ['retried'], () => send('POST', `/cards/${setup.cardId}/retry`)],
    ]
    test.each(writes)(
      'of a token that has ended is in the feed once, with the next write to the card: %s',
      async (_how, further, request) => {
        const token = await setup.service.token(setup.workspaceId, setup.bob.id, ['kanban:write'])
        await send('PUT', `/cards/${setup.cardId}/claim`, {}, undefined, token)
        await setup.service.app.fetch(new Request('http://localhost/revoke', { method: 'POST', body: new URLSearchParams({ token }) }))
        await request()
        await setup.board.patch(`/cards/${setup.cardId}`, { title: 'Newer' })
        expect(await works()).toEqual([[setup.cardId, 'failed', 1, null], ...further.map((action) => [setup.cardId, action])])
        expect((await feed()).filter(({ action }: { action: string }) => action === 'released')).toEqual([])
      },
    )

    test.each(writes)('is in the feed once, with the next write to the card: %s', async (_how, further, request) => {
      await take(setup.cardId, 10)
      wait(10)
      expect(await works()).toEqual([])
      await request()
      await setup.board.patch(`/cards/${setup.cardId}`, { title: 'Newer' })
      expect(await works()).toEqual([[setup.cardId, 'failed', 1, null], ...further.map((action) => [setup.cardId, action])])
    })
  })

  describe('a question', () => {
    test('is a comment, and nobody gets the card until it is answered; who takes it then gets both', async () => {
      const asked = await ask()
      const { data: question } = asked.body
      expect({ status: asked.status, location: asked.headers.get('location'), question }).toMatchObject({
        status: 201,
        location: `/v1/comments/${question.id}`,
        question: { kind: 'question', body: 'Which logo?', answers: null, author_id: setup.bob.id, card_id: setup.cardId },
      })
      expect(await work()).toEqual({ state: 'waiting', ...FRESH, question_id: question.id })
      expect((await next()).body.data).toBeNull()
      const refused = await take()
      expect({ status: refused.status, work: refused.body.error.work }).toEqual({ status: 409, work: await work() })
      const answered = await send('POST', `/cards/${setup.cardId}/answer`, { body: 'The blue one.' }, {}, setup.ann.write)
      const { data: answer } = answered.body
      expect({ status: answered.status, answer }).toMatchObject({
        status: 201,
        answer: { kind: 'answer', answers: question.id, author_id: setup.ann.id },
      })
      expect(await work()).toEqual({ state: 'ready', ...FRESH })
      expect((await send('POST', `/cards/${setup.cardId}/answer`, { body: 'Again.' })).status).toBe(409)
      const taken = (await next({}, '?include=work')).body.data
      expect({ state: taken.work.state, answered: taken.answered }).toEqual({ state: 'claimed', answered: { question, answer } })
      expect((await works()).map(([, action]: unknown[]) => action)).toEqual(['asked', 'answered'])
    })

    test('can be answered by whoever has asked it', async () => {
      await ask()
      expect((await send('POST', `/cards/${setup.cardId}/answer`, { body: 'I have found it.' })).status).toBe(201)
      expect((await next()).body.data.id).toBe(setup.cardId)
    })

    test('is withdrawn with its comment; the deletion of another comment changes nothing', async () => {
      const { id } = (await ask()).body.data
      await setup.board.comment(setup.cardId)
      const other = (await send('POST', `/cards/${setup.cardId}/comments`, { body: 'x' })).body.data
      await send('DELETE', `/comments/${other.id}`)
      expect((await work()).state).toBe('waiting')
      await send('DELETE', `/comments/${id}`)
      expect(await work()).toEqual({ state: 'ready', ...FRESH })
      expect((await next({}, '?include=work')).body.data.answered).toBeNull()
    })

    test('that is withdrawn leaves the last one that was answered', async () => {
      const { data: question } = (await ask()).body
      const { data: answer } = (await send('POST', `/cards/${setup.cardId}/answer`, { body: 'The blue one.' })).body
      await send('DELETE', `/comments/${(await ask()).body.data.id}`)
      expect((await next({}, '?include=work')).body.data.answered).toEqual({ question, answer })
    })

    test.each(['question', 'answer'] as const)('that was answered no longer counts when the %s is deleted', async (deleted) => {
      const { data: question } = (await ask()).body
      const { data: answer } = (await send('POST', `/cards/${setup.cardId}/answer`, { body: 'The blue one.' })).body
      await send('DELETE', `/comments/${{ question, answer }[deleted].id}`)
      expect((await next({}, '?include=work')).body.data.answered).toBeNull()
    })

    test('keeps the limit of a question when it is edited', async () => {
      const { id } = (await ask()).body.data
      const edit = (length: number) => send('PATCH', `/comments/${id}`, { body: '😀'.repeat(length) })
      expect({ longest: (await edit(2000)).status, tooLong: (await edit(2001)).body.error.issues[0].path }).toEqual({
        longest: 200,
        tooLong: 'body',
      })
    })

    test('goes on while the card is moved, retried, completed and opened again', async () => {
      await failTimes(1)
      const { id } = (await ask()).body.data
      await setup.board.post(`/cards/${setup.cardId}/move`, { column_id: await setup.board.column() })
      await send('POST', `/cards/${setup.cardId}/retry`)
      for (const completed of [true, false]) await setup.board.put(`/cards/${setup.cardId}/completion`, { completed })
      expect(await work()).toEqual({ state: 'waiting', ...FRESH, question_id: id })
    })
  })

  describe('the next card', () => {
    test('is the first in the order of the cards, whether it has waited or not; also by its label', async () => {
      const [first, second, third] = [setup.cardId, await setup.board.card(setup.columnId), await setup.board.card(setup.columnId)]
      // It is ready again, and behind those that were ready all the time.
      const last = await setup.board.card(setup.columnId)
      await fail(last, { retry_after: 1 })
      wait(1)
      const label = await setup.board.label()
      for (const id of [second, third]) await setup.board.put(`/cards/${id}/labels/${label}`)
      await fail(second, { retry_after: 10 })
      await fail(first, { retry_after: 20 })
      const dry = async (body: object = {}) => (await next(body, '?dry_run=true')).body.data.id
      expect([await dry(), await dry({ label_id: label })]).toEqual([third, third])
      wait(10)
      expect([await dry(), await dry({ label_id: label })]).toEqual([second, second])
      wait(10)
      expect([await dry(), await dry({ label_id: label })]).toEqual([first, second])
      const taken: unknown[] = []
      for (let i = 0; i < 5; i++) taken.push((await next()).body.data?.id)
      expect(taken).toEqual([first, second, third, last, undefined])
    })

    test('is waited for until a card may be tried again', async () => {
      await fail(setup.cardId, { retry_after: 15 })
      const found = inTime(next({ wait: 30 }), () => 'the long poll is not answered')
      await nextTurn()
      wait(15)
      expect(await found).toMatchObject({ status: 201, body: { data: { id: setup.cardId } } })
    })

    test('is never one that becomes stuck after it was found', async () => {
      await failTimes(4)
      const { store } = setup.service
      store.beforeCommit = () => failTimes(1)
      expect((await next()).body.data).toBeNull()
      expect(store.touched).toContain(indexes.readyCards(setup.columnId).name)
    })
  })

  test('is listed by its states, and shown with lists and snapshots', async () => {
    const { board, columnId } = setup
    const names = ['done', 'archived', 'claimed', 'waiting', 'stuck', 'blocked', 'freed', 'retrying', 'again', 'fresh'] as const
    const ids = {} as Record<(typeof names)[number], string>
    for (const name of names) ids[name] = await board.card(columnId, name)
    await board.delete(`/cards/${setup.cardId}`)
    await board.put(`/cards/${ids.done}/completion`, { completed: true })
    await board.post(`/cards/${ids.archived}/archive`)
    await ask(ids.waiting)
    await failTimes(5, ids.stuck)
    await board.put(`/cards/${ids.blocked}/blockers/${ids.fresh}`)
    await board.put(`/cards/${ids.freed}/blockers/${ids.done}`)
    await fail(ids.again, { retry_after: 1 })
    await fail(ids.retrying)
    await take(ids.claimed)
    wait(1)
    const states = { ...Object.fromEntries(names.map((name) => [name, name])), freed: 'ready', again: 'ready', fresh: 'ready' } as Record<
      string,
      string
    >
    const shown = (cards: readonly { title: string; work: { state: string } }[]) =>
      Object.fromEntries(cards.map(({ title, work }) => [title, work.state]))
    const { archived: _archived, ...active } = states
    expect(shown((await board.get(`/boards/${board.id}/cards?include=work`)).body.data)).toEqual(active)
    expect(shown((await board.get(`/cards?board_id=${board.id}&include=work`)).body.data)).toEqual(active)
    expect(shown((await board.get(`/boards/${board.id}?include=cards,work`)).body.data.cards)).toEqual(active)
    const lists = [`/boards/${board.id}/cards?`, `/cards?board_id=${board.id}&`, `/cards?board_id=${board.id}&sort=position&`]
    for (const list of lists) {
      const titles = async (query: string) =>
        (await board.get(`${list}${query}`)).body.data.map(({ title }: { title: string }) => title).toSorted()
      for (const state of new Set(Object.values(active)))
        expect(await titles(`work_state=${state}`), list + state).toEqual(
          Object.keys(active)
            .filter((name) => active[name] === state)
            .toSorted(),
        )
      expect(await titles('work_state=waiting,stuck'), list).toEqual(['stuck', 'waiting'])
      expect(await titles('ready=true'), list).toEqual(['again', 'freed', 'fresh'])
      expect(await titles('ready=false&completed=false'), list).toEqual(['blocked', 'claimed', 'retrying', 'stuck', 'waiting'])
      expect(await titles('archived=true&work_state=archived'), list).toEqual(['archived'])
      expect(await titles('archived=true&work_state=done,ready'), list).toEqual([])
      expect((await board.get(`${list}work_state=lost`)).status).toBe(422)
    }
  })

  test('is in the feed with its attempts and its reason, behind the end of the claim', async () => {
    await setup.board.patch(`/columns/${setup.columnId}`, { max_attempts: 1 })
    const before = (await feed()).length
    await fail()
    await send('POST', `/cards/${setup.cardId}/retry`)
    const entries = (await feed())
      .slice(before)
      .map(({ kind, action, id, actor_id }: Record<string, unknown>) => [kind, action, id, actor_id])
    const own = (kind: string, action: string) => [kind, action, setup.cardId, setup.bob.id]
    expect(entries).toEqual([
      own('claim', 'claimed'),
      own('claim', 'released'),
      own('work', 'failed'),
      own('work', 'stuck'),
      own('work', 'retried'),
    ])
    expect(await works()).toContainEqual([setup.cardId, 'failed', 1, 'No network.'])
    expect((await feed()).at(-1).data).toEqual(await work())
  })

  test('that somebody tries again is in the feed, also beside another change of the card; a retry after a success is not', async () => {
    const params = { card_id: setup.cardId }
    const batch = (...operations: object[]) => setup.board.post(`/boards/${setup.board.id}/batch`, { operations })
    const retry = { operation: 'cards.retry', params }
    const last = async () => (await works()).map(([, action]: unknown[]) => action)
    await failTimes(1)
    await batch({ operation: 'cards.update', params, body: { title: 'Other' } }, retry)
    expect(await last()).toEqual(['failed', 'retried'])
    await failTimes(1)
    await batch({ operation: 'cards.complete', params, body: { completed: true } }, retry)
    expect(await last()).toEqual(['failed', 'retried', 'failed'])
  })
})
