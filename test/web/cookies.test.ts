import { describe, expect, test } from 'vitest'
import type { ServerRequest } from 'srvx'
import { unmaskFormToken } from '../../src/auth/accounts/form-token.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { cookieOf, readCookies as readRequest, setCookie } from '../../src/web/cookies.ts'
import { anonymousFormToken } from '../../src/web/forms.ts'
import type { PageContext } from '../../src/web/page-context.ts'

// Headers of a Request would refuse or trim some of these values.
const readCookies = (header: string | null) => readRequest({ headers: { get: () => header } } as unknown as ServerRequest)

test.each([
  ['lk_form=a; lk_session=b', 'b'],
  ['lk_session=first; lk_session=second', 'first'],
  [' \tlk_session \t=\t b \t; x=y', 'b'],
  ['flag; lk_session=b', 'b'],
  ['lk_session=a=b', 'a=b'],
  ['lk_session=a%20b', 'a b'],
  ['lk_session=%zz', '%zz'],
  ['lk_session=', ''],
  ['LK_SESSION=b', undefined],
  ['lk_session', undefined],
  ['=lk_session', undefined],
  ['', undefined],
  [null, undefined],
])('in the Cookie header %j the value of lk_session is %j', (header, value) => expect(readCookies(header).get('lk_session')).toBe(value))

test.each(['\u00a0', '\u000b', '\u000c', '\ufeff', '\u2003'])(
  'white space other than space and tab (%j) does not give a cookie the prefix __Host-, which the browser did not check',
  (space) => {
    const cookies = readCookies(`${space}__Host-lk_session=planted; __Host-lk_session${space}=planted; __Host-lk_session=genuine`)
    expect(cookies.get('__Host-lk_session')).toBe('genuine')
  },
)

test.each(['__proto__', 'constructor', 'toString'])('a cookie with the name %s is a cookie like any other', (name) => {
  expect(readCookies('x=y').get(name)).toBeUndefined()
  expect(readCookies(`${name}=value`).get(name)).toBe('value')
})

test('a value with special characters adds no attribute and is read back unchanged', () => {
  const value = 'x; Domain=evil.example,\r\nSet-Cookie: y=z ü%41'
  const context = { origin: 'https://kanban.example', url: 'https://kanban.example', pendingCookies: [] as string[] }
  setCookie(context, 'sign_up', value)
  const [pair, ...attributes] = context.pendingCookies[0]!.split('; ')
  expect(attributes).toEqual(['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'])
  expect(cookieOf({ ...context, cookies: readCookies(pair!) }, 'sign_up')).toBe(value)
})

describe('the form token of a page without a session', () => {
  const TOKEN = `a-_9${'x'.repeat(39)}`
  const tokenFor = (cookie: string | undefined) => {
    const [sent, cookies] = [new Map(cookie === undefined ? [] : [['__Host-lk_form', cookie]]), [] as string[]]
    const site = { origin: 'https://kanban.example', url: 'https://kanban.example' }
    const context = { web: { random: systemRandom }, cookies: sent, pendingCookies: cookies, ...site }
    return { token: unmaskFormToken(anonymousFormToken(context as unknown as PageContext)), cookies }
  }

  test('is the one in the cookie', () => {
    expect(tokenFor(TOKEN)).toEqual({ token: TOKEN, cookies: [] })
  })

  test.each([undefined, '', TOKEN.slice(1), `${TOKEN}x`, `x${TOKEN}`, 'undefined'])('is a new one if the cookie is "%s"', (cookie) => {
    const { token, cookies } = tokenFor(cookie)
    expect({ token, cookies }).toEqual({
      token: expect.stringMatching(/^[\w-]{43}$/),
      cookies: [`__Host-lk_form=${token}; Path=/; HttpOnly; Secure; SameSite=Lax`],
    })
    expect(token).not.toBe(tokenFor(cookie).token)
  })
})
