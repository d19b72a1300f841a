import { describe, expect, test } from 'vitest'
import { createClient, InvalidInput, type Client, type ClientOptions } from '../../src/client/client.ts'
import { FakeService, success } from '../support/fake-service.ts'

const KNOWN = 'url, token, timeout, retries, fetch, random, now, monotonic, newKey, timers'
const good = { url: 'http://service.test', token: 'lk_pat_test' }

/** What a program without types can pass. */
const create = (options: unknown) => () => createClient(options as ClientOptions)

// Written by hand: the options of createClient, and what the error must say.
test.each<[options: unknown, message: string]>([
  [{ ...good, retry: 8 }, `createClient: there is no option "retry"; the options are ${KNOWN}`],
  [{ ...good, retries: 8 }, 'the option "retries" must be an object with some of attempts, delay, maxDelay, maxRetryAfter'],
  [{ ...good, retries: null }, 'the option "retries" must be an object'],
  [{ ...good, retries: { attempt: 8 } }, 'there is no option "attempt"; the options are attempts, delay, maxDelay, maxRetryAfter'],
  [{ ...good, retries: { attempts: '8' } }, 'the option "attempts" must be a number of attempts'],
  [{ ...good, retries: { attempts: 0 } }, 'the option "attempts" must be a number of attempts, 1 or more'],
  [{ ...good, retries: { delay: -1 } }, 'the option "delay" must be a number of milliseconds'],
  [{ ...good, retries: { maxDelay: Infinity } }, 'the option "maxDelay" must be a number of milliseconds, up to 2147483647'],
  [{ ...good, timeout: 2 ** 31 }, 'the option "timeout" must be a number of milliseconds, up to 2147483647'],
  [{ ...good, fetch: 'https' }, 'the option "fetch" must be a function'],
  [{ ...good, newKey: 'key' }, 'the option "newKey" must be a function'],
  [{ ...good, timers: {} }, 'the option "timers" must be an object with setTimeout and clearTimeout'],
  [{ token: 'lk_pat_test' }, 'the option "url" must be the URL of the service, such as "https://kanban.example"'],
  [{ ...good, url: new URL('http://service.test') }, 'the option "url" must be the URL of the service'],
  [{ ...good, url: 'localhost:3000' }, 'the option "url" must be the URL of the service'],
  [{ url: good.url }, 'the option "token" is missing; it must be an access token, lk_pat_…'],
  [{ ...good, token: '' }, 'the option "token" is missing'],
  [{ ...good, token: 'lk_pat_secret\n' }, 'the option "token" must be an access token'],
  [null, 'createClient: the options must be an object'],
])('createClient(%j) is an error at once', (options, message) => {
  expect(create(options)).toThrow(InvalidInput)
  expect(create(options)).toThrow(message)
  expect(create(options)).not.toThrow('secret')
})

test('an option that is undefined counts as absent', async () => {
  const service = new FakeService('cut', success({ id: 'usr_1' }))
  const client = service.client({ retries: { attempts: undefined }, newKey: undefined } as unknown as ClientOptions)
  await client.account.read({}, { timeout: undefined, signal: undefined } as object)
  expect(service.waits).toEqual([250])
})

type Call = (client: Client, options: never) => Promise<unknown>
const calls = {
  read: (client, options) => client.cards.read({ card_id: 'crd_1' }, options),
  write: (client, options) => client.cards.update({ card_id: 'crd_1', title: 'Sow' }, options),
  all: async (client, options) => client.cards.list.all({ board_id: 'brd_1' }, options),
  changes: async (client, options) => client.changes({ board_id: 'brd_1' }, options),
} satisfies Record<string, Call>

describe('the options of a call', () => {
  test.each<[kind: keyof typeof calls, options: unknown, message: string]>([
    ['read', { etag: '"7"' }, 'cards.read: there is no option "etag"; the options are signal, timeout, headers, ifNoneMatch'],
    ['read', { ifMatch: '"7"' }, 'there is no option "ifMatch"'],
    [
      'write',
      { retries: 8 },
      'cards.update: there is no option "retries"; the options are signal, timeout, headers, idempotencyKey, ifMatch, ifClaim, dryRun',
    ],
    ['write', { ifMatch: 'abc' }, 'the option "ifMatch" must be an ETag, with its double quotes'],
    ['write', { idempotencyKey: true }, 'the option "idempotencyKey" must be a key, or false'],
    ['write', { dryRun: 'yes' }, 'the option "dryRun" must be true or false'],
    ['read', { headers: new Headers({ 'x-trace': '1' }) }, 'the option "headers" must be an object with the values of headers'],
    ['write', { headers: { 'Idempotency-Key': 'k' } }, 'the header "Idempotency-Key" is set by the option "idempotencyKey"'],
    ['write', { headers: { authorization: 'Bearer x' } }, 'the header "authorization" is set by the option "token"'],
    ['write', { signal: 'stop' }, 'the option "signal" must be an AbortSignal'],
    ['write', 'key', 'cards.update: the options must be an object'],
    ['all', { limit: 5 }, 'cards.list.all: there is no option "limit"; the options are signal, timeout, headers'],
    ['changes', { retry: true }, 'changes: there is no option "retry"; the options are signal, timeout, headers, onRetry'],
    ['changes', { onRetry: console }, 'the option "onRetry" must be a function'],
  ])('%s with %j is an error, and nothing is sent', async (kind, options, message) => {
    const service = new FakeService(success({}))
    const call = (async () => calls[kind](service.client(), options as never))()
    await expect(call).rejects.toThrow(message)
    await expect(call).rejects.toThrow(InvalidInput)
    expect(service.sent).toEqual([])
  })

  test.each<[input: unknown, message: string]>([
    [{ board: 'brd_1' }, 'changes: there is no option "board"; the options are board_id, after, wait'],
    [{ board_id: 'brd_1', wait: 31 }, 'the option "wait" must be a whole number of seconds from 0 to 30'],
    [{ board_id: 'brd_1', after: null }, 'the option "after" must be a cursor'],
    [{}, '"board_id" is required'],
  ])('changes(%j) is an error at once', (input, message) => {
    const service = new FakeService(success({}))
    expect(() => service.client().changes(input as never)).toThrow(message)
    expect(() => service.client().changes(input as never)).toThrow(InvalidInput)
  })
})
