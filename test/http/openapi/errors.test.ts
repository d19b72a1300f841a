import { describe, expect, test } from 'vitest'
import { encodeCursor } from '../../../src/listing/pages.ts'
import { errors, type ErrorCode } from '../../../src/model/errors.ts'
import { limits } from '../../../src/model/limits.ts'
import type { Operation } from '../../../src/resources/operation.ts'
import { operations } from '../../../src/resources/table.ts'
import { Contention, StorageUnavailable } from '../../../src/store/port.ts'
import { defaultDocument } from '../../support/document-check.ts'
import { formText } from '../../support/form-text.ts'
import { memory } from '../../support/memory.ts'
import { buildWorld, createScenario, exampleBody, headersFor, scenarioOptions, type Scenario } from '../../support/scenario.ts'
import { Service, type Reply } from '../../support/service.ts'

// Each error that the document lists for an operation is provoked. That the service answers no other is checked for every
// response of all suites (support/document-check.ts).

/** What the facts of a request are not about: `document.test.ts` compares them with the hand-written decisions and with the rows. */
const ELSEWHERE = new Set<ErrorCode>(['forbidden', 'conflict'])
/** These come before an operation is known. */
const BEFORE = new Set<ErrorCode>(['request_timeout', 'headers_too_large'])

/** The headers of every error. */
const SHARED = new Set(['cache-control', 'content-length', 'content-type', 'vary', 'x-content-type-options', 'x-request-id'])
/** The further members of errors. Written by hand. The scope is in credentials.test.ts, the ETags are in etags.test.ts. */
const FURTHER: Partial<Record<ErrorCode, (operation: Operation) => Record<string, unknown>>> = {
  unauthorized: () => ({ 'www-authenticate': 'Bearer' }),
  insufficient_scope: () => ({ 'www-authenticate': expect.stringMatching(/^Bearer error="insufficient_scope", scope="kanban:\w+"$/) }),
  payload_too_large: () => ({ connection: 'close' }),
  unsupported_media_type: ({ method, takesUpload }) => {
    const types = takesUpload ? 'multipart/form-data' : 'application/json'
    return method === 'POST'
      ? { 'accept-post': types }
      : method === 'PATCH'
        ? { 'accept-patch': 'application/json, application/merge-patch+json' }
        : {}
  },
  range_not_satisfiable: () => ({ 'content-range': 'bytes */0' }),
  rate_limited: () => ({ 'retry-after': '60', ratelimit: expect.any(String), 'ratelimit-policy': expect.any(String) }),
  idempotency_key_in_use: () => ({ 'retry-after': '1' }),
  contention: () => ({ 'retry-after': '1' }),
  unavailable: () => ({ 'retry-after': '1' }),
}

/** What errors of the inside say, and no response. */
const SECRET = 'secret of the inside'

/** The cursor of a change that no board has. */
const LOST = encodeCursor('boards.changes', `${'9'.repeat(16)} 00000000000000000000`)

const document = defaultDocument()

/** The codes that the text of an operation's errors names. */
function documentedCodes({ method, path }: Operation): string[] {
  const { responses } = document.paths[path]![method.toLowerCase()]!
  const text = JSON.stringify(
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([, response]) => ('$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)!] : response)),
  )
  const components = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)Error"/g)].map(([, name]) => name!))
  return (Object.keys(errors) as ErrorCode[]).filter((code) =>
    components.has(code.replaceAll(/(?:^|_)(\w)/g, (_all, letter: string) => letter.toUpperCase())),
  )
}

/** A batch with an operation that must state the claim. */
const failInBatch = ({ card_id }: Scenario['params']) => ({
  operations: [{ operation: 'claims.fail', params: { card_id }, body: { reason: 'No network.' } }],
})

describe('the errors that the document lists for an operation', async () => {
  const service = await Service.forSuite()
  const world = await buildWorld(service)
  const limited = await Service.forSuite(memory, { rateLimits: { quotas: { token: 0, workspace: 1000, address: 1000 } } })
  const limitedToken = (await limited.person(await limited.workspace())).admin

  /** The caller may do everything, and what a DELETE removes is there. */
  const newScenario = async (row: Operation) => {
    const own = { 'board.caller': 'creator', 'comment.author': 'caller', 'file.owner': 'caller', 'webhook.creator': 'caller' }
    const facts = { 'caller.membership': 'active', 'caller.role': 'owner', ...own }
    return (await createScenario(world, facts, scenarioOptions(row)))!
  }

  /** The requests that get an error, by its code. */
  function provocations(
    { id, method, path, isRead, requiresClaim, takesUpload }: Operation,
    scenario: Scenario,
  ): Partial<Record<ErrorCode, () => Promise<Reply>>> {
    const { caller, params } = scenario
    const fill = (ids: (name: string) => string) => path.replace(/\{(\w+)\}/g, (_all, name: string) => ids(name))
    const target = fill((name) => params[name]!)
    const absent = fill((name) => params[name]!.replace(/_.*/, '_00000000000000000000'))
    const body = exampleBody(id, scenario)
    // All refused writes have one Idempotency-Key. None of them uses it up: the next one with it is the first one.
    const key: Record<string, string> = isRead ? {} : { 'idempotency-key': id }
    const send = (headers: Record<string, string>, to = target, content: unknown = body) =>
      service.send(caller.admin, method, to, content, { ...key, ...headersFor(id), ...headers })
    const failing = async (thrown: Error) => {
      service.store.beforeRead = async () => {
        throw thrown
      }
      const reply = await send({}).finally(() => (service.store.beforeRead = undefined))
      expect(reply.text).not.toContain(SECRET)
      return reply
    }
    const repeatAfterDeletion = async () => {
      const { data } = (await send({ 'idempotency-key': 'deleted' })).body
      await service.send(caller.admin, 'DELETE', `/boards/${data.id}`)
      return send({ 'idempotency-key': 'deleted' })
    }
    const hasBody = method !== 'GET' && method !== 'DELETE'
    return {
      ...(hasBody && {
        bad_request: () => send({}, target, takesUpload ? formText().slice(0, -9) : '{'),
        payload_too_large: () =>
          takesUpload ? send({ 'content-length': '1000000000' }) : send({}, target, ' '.repeat(limits.jsonBytes + 1)),
        unsupported_media_type: () => send({ 'content-type': 'text/plain' }, target, 'x'),
      }),
      unauthorized: () => service.send(null, method, target, body),
      insufficient_scope: () => service.send(caller.none, method, target, body),
      ...(path.includes('{') && { not_found: () => send({}, absent) }),
      ...(path === '/cards' && { not_found: () => send({}, `${target}?board_id=brd_00000000000000000000`) }),
      ...(id === 'boards.create' && { not_found: repeatAfterDeletion }),
      ...(takesUpload && {
        insufficient_storage: async () => {
          const { workspaceBytes } = service.app.services
          Object.assign(service.app.services, { workspaceBytes: 1 })
          return send({}).finally(() => Object.assign(service.app.services, { workspaceBytes }))
        },
      }),
      precondition_failed: () => send({ 'if-match': '"0000"' }),
      ...(id === 'boards.batch' && { precondition_required: () => send({}, target, failInBatch(params)) }),
      ...(requiresClaim && { precondition_required: () => service.send(caller.admin, method, target, body, key) }),
      ...(/\/(changes|events)$/.test(path) && { cursor_expired: () => send({}, `${target}?after=${LOST}`) }),
      ...(id === 'webhooks.create' && { cursor_expired: () => send({}, target, { url: 'https://ci.example/', after: LOST }) }),
      ...(id === 'webhooks.update' && { cursor_expired: () => send({}, target, { enabled: true, after: LOST }) }),
      ...(path.endsWith('/content') && { range_not_satisfiable: () => send({ range: 'bytes=999-' }) }),
      validation_failed: () => send({}, `${target}?unknown=1`),
      rate_limited: () => limited.send(limitedToken, method, target, body),
      internal_error: () => failing(new Error(SECRET)),
      contention: () => failing(new Contention()),
      unavailable: () => failing(new StorageUnavailable(SECRET)),
      // Last, because a DELETE is done then.
      ...(!isRead && {
        idempotency_key_in_use: async () => {
          let reply: Reply | undefined
          service.store.beforeCommit = async () => void (reply = await send({}))
          const first = await send({})
          expect({ isDone: first.status < 300, idempotentReplayed: first.headers.get('idempotent-replayed') }).toEqual({
            isDone: true,
            idempotentReplayed: null,
          })
          return reply!
        },
        idempotency_key_reused: () => send({ 'if-match': '"0000"' }),
      }),
    }
  }

  test.each(operations.map((operation) => [operation.id, operation] as const))('all happen to %s', async (_id, operation) => {
    const provoked = provocations(operation, await newScenario(operation))
    for (const [code, send] of Object.entries(provoked)) {
      const { body, headers } = await send()
      expect({ code: body.error?.code, requestId: body.error?.request_id }).toEqual({ code, requestId: headers.get('x-request-id') })
      const further = [...headers].filter(([name]) => !SHARED.has(name) && name !== 'etag')
      expect([code, Object.fromEntries(further)]).toEqual([code, FURTHER[code as ErrorCode]?.(operation) ?? {}])
      expect(headers.get('cache-control')).toBe('private, no-store')
    }
    const isProvoked = (code: string) => !ELSEWHERE.has(code as ErrorCode) && !BEFORE.has(code as ErrorCode)
    // A GET or a DELETE whose head is no valid HTTP.
    const inTheHead = 'bad_request' in provoked ? [] : ['bad_request']
    expect(documentedCodes(operation).filter(isProvoked).toSorted()).toEqual([...Object.keys(provoked), ...inTheHead].toSorted())
  })

  /** By hand: the operations whose body may be left out. */
  const OPTIONAL = new Set(['claims.take', 'claims.take_next', 'claims.release'])
  test.each(operations.flatMap((operation) => (operation.body === undefined ? [] : [[operation.id, operation] as const])))(
    'without its body, %s is as with {}, or 400',
    async (id, operation) => {
      const { caller, params } = await newScenario(operation)
      const { method, path, takesUpload } = operation
      const send = (body?: object) =>
        service.send(
          caller.admin,
          method,
          path.replace(/\{(\w+)\}/g, (_all, name) => params[name]!),
          body,
        )
      const [empty, absent] = [await send({}), await send()]
      const { required } = document.paths[path]![method.toLowerCase()]!.requestBody!
      const isOptional = OPTIONAL.has(id)
      expect({ required, empty: empty.status < 300, absent: absent.status < 300 || absent.status }).toEqual({
        required: !isOptional,
        empty: isOptional,
        absent: isOptional || (takesUpload ? 415 : 400),
      })
    },
  )

  // They are provoked in headers.test.ts.
  test('every operation lists the errors of a request whose head is not valid', () => {
    for (const operation of operations)
      expect([operation.id, documentedCodes(operation)]).toEqual([
        operation.id,
        expect.arrayContaining(['bad_request', 'request_timeout', 'headers_too_large']),
      ])
  })
})
