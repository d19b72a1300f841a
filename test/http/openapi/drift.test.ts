import { describe, expect, test } from 'vitest'
import type { OpenApiDocument } from '../../../src/http/openapi/types.ts'
import { memory } from '../../support/memory.ts'
import { defaultDocument, DocumentCheck } from '../../support/document-check.ts'
import { TestBoard } from '../../support/board.ts'
import { checkResponse } from '../../support/response-check.ts'
import { Service } from '../../support/service.ts'

// Every response of the suites is compared with the OpenAPI document, and its failures with the rows. These tests show that each difference is found.

/** The document after a change. */
function changed(change: (document: any) => void): DocumentCheck {
  const copy = structuredClone(defaultDocument()) as OpenApiDocument
  change(copy)
  return new DocumentCheck(copy)
}

describe('the comparison of a response with the OpenAPI document', async () => {
  const body = { name: 'Board' }
  const service = await Service.forSuite()
  const person = await service.person(await service.workspace(), 'owner')
  const board = await service.send(person.admin, 'POST', '/boards', body)
  const on = await TestBoard.create(service, person)
  await on.card(await on.column())
  const cards = await service.send(person.admin, 'GET', `/boards/${on.id}/cards?include=counts`)
  const refused = await service.send(person.read, 'POST', '/boards', body)
  const created = (check: DocumentCheck) => () => check.check('POST', '/boards', { ...board, requestBody: body })
  const listed = (check: DocumentCheck) => () => check.check('GET', '/boards/{board_id}/cards', cards)
  const forbidden = (check: DocumentCheck) => () => check.check('POST', '/boards', refused)
  // The members of schemas.
  const boardOf = ({ schemas }: any) => schemas.Board.properties
  const cardOf = ({ schemas }: any) => schemas.ListedCardWithCounts.allOf[1].properties

  test('accepts the responses of the service', () => {
    const check = changed(() => undefined)
    created(check)()
    listed(check)()
    forbidden(check)()
  })

  const unknown = { $ref: '#/components/headers/Accept-Ranges' }
  test.each<[what: string, change: (document: any, responses: any) => void, send: typeof created, message: RegExp]>([
    ['a member that is not documented', ({ components }) => delete boardOf(components).name, created, /additionalProperty.*name/s],
    ['a documented member that is missing', ({ components }) => components.schemas.Board.required.push('colour'), created, /colour/],
    ['a member of an extended schema', ({ components }) => delete cardOf(components).counts, listed, /unevaluated.*counts/s],
    ['a status', (_all, responses) => delete responses['201'], created, /the status is not documented/],
    ['an error code', (_all, responses) => (responses['403'] = responses['401']), forbidden, /code/],
    ['a header', (_all, responses) => delete responses['201'].headers.ETag, created, /the header etag is not documented/],
    [
      'a documented header that is missing',
      (_all, responses) => (responses['201'].headers['Accept-Ranges'] = unknown),
      created,
      /the header accept-ranges is missing/,
    ],
    ['a header with another value', ({ components }) => (components.headers.Vary.schema.const = 'x'), created, /the header vary/],
    ['an operation', ({ paths }) => delete paths['/boards'].post, created, /the operation is not documented/],
    [
      'an accepted body',
      ({ components }) => (components.schemas.BoardsCreateBody.properties.name.maxLength = 2),
      created,
      /the body of the request/,
    ],
  ])('finds %s', (_what, change, send, message) => {
    expect(send(changed((document) => void change(document, document.paths['/boards'].post.responses)))).toThrow(message)
  })

  const error = { code: 'conflict', message: 'There are too many boards.', request_id: '4a2f0c1e-8f0b-4a57-9f0e-2f6d4f3b1c55' }
  test.each<[what: string, path: string, body: object, message: RegExp]>([
    ['a 409 with a message that the row does not state', '/boards', { error }, /boards\.create: the conflicts that its row states/],
    ['a failure with another envelope', '/nowhere', { error, data: {} }, /the members of a failure/],
    ['a failure without the id of its request', '/nowhere', { error: { ...error, request_id: undefined } }, /request_id/],
  ])('finds %s', (_what, path, sent, message) => {
    expect(() => checkResponse('POST', path, 409, sent)).toThrow(message)
  })

  test('is made by the test client of each response of a service', async () => {
    const other = await Service.start(memory)
    const wrong = new Response('{"data":{"nonsense":true}}', { headers: { 'content-type': 'application/json' } })
    Object.assign(other.app, { fetch: async () => wrong })
    await expect(other.send(person.read, 'GET', '/account')).rejects.toThrow(/GET \/account 200: the header /)
    await other.stop()
  })
})
