import { describe, expect, test } from 'vitest'
import { isBelow, targetOf } from '../../src/http/request-target.ts'

/** The target of a request that arrived with this request target (RFC 9112 §3.2). */
const arrived = (req: object, url: URL) => targetOf({ req, url } as unknown as Parameters<typeof targetOf>[0])
const sent = (url: string) => arrived({ runtime: { node: { req: { url } } } }, new URL('http://normalized/other?x'))

describe('the target of a request', () => {
  test.each([
    ['/v1/boards', '/v1/boards', ''],
    ['/v1/boards?limit=1', '/v1/boards', '?limit=1'],
    ['/v1/boards?', '/v1/boards', '?'],
    ['/?a?b', '/', '?a?b'],
    ['/v1/./a/../b%2e//\\', '/v1/./a/../b%2e//\\', ''],
    ['http://proxy:80/v1/boards?a', '/v1/boards', '?a'],
    ['HTTPS://proxy/v1', '/v1', ''],
    ['http://proxy?a', '', '?a'],
    ['http://proxy', '', ''],
    ['/http://proxy/x', '/http://proxy/x', ''],
    ['/x?to=http://proxy/y', '/x', '?to=http://proxy/y'],
    ['*', '*', ''],
    ['x/http://proxy/y', 'x/http://proxy/y', ''],
  ])('%s has the path "%s" and the query "%s"', (url, path, search) => {
    expect(sent(url)).toEqual({ path, search })
  })

  test('a request without a connection has the target of its URL', () => {
    const url = new URL('http://x/v1/boards?limit=1')
    expect([arrived({}, url), arrived({ runtime: {} }, url)]).toEqual([
      { path: '/v1/boards', search: '?limit=1' },
      { path: '/v1/boards', search: '?limit=1' },
    ])
  })
})

test.each([
  ['/v1', true],
  ['/v1/', true],
  ['/v1/x', true],
  ['/v10', false],
  ['/v', false],
  ['/x/v1/y', false],
])('%s is /v1 or below it: %s', (path, below) => {
  expect(isBelow('/v1', path)).toBe(below)
})
