import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { anonymousFormToken, readForm } from '../../src/web/forms.ts'
import type { PageContext } from '../../src/web/page-context.ts'

type Incoming = Parameters<typeof readForm>[0]

const FORM = 'application/x-www-form-urlencoded'
const ORIGIN = 'https://kanban.example'
const TOKEN = `a-_9${'x'.repeat(39)}`

describe('reading a form', () => {
  const read = (body: string, type: string | undefined = FORM) => {
    const request = new Request('http://x/', { method: 'POST', body: Buffer.from(body) }) as Incoming
    if (type !== '') request.headers.set('content-type', type)
    return readForm(request)
  }
  test.each([FORM, `${FORM};charset=utf-8`, `${FORM} ; charset=utf-8`, FORM.toUpperCase()])(
    'a body of the type %s is read',
    async (type) => {
      expect([...(await read('a=1&b=%C3%BC+%26&a=ü', type))]).toEqual([
        ['a', '1'],
        ['b', 'ü &'],
        ['a', 'ü'],
      ])
    },
  )
})

describe('the form token of a page without a session', () => {
  const tokenFor = (cookie: string | undefined) => {
    const [sent, cookies] = [new Map(cookie === undefined ? [] : [['__Host-lk_form', cookie]]), [] as string[]]
    const context = { web: { random: systemRandom }, cookies: sent, pendingCookies: cookies, origin: ORIGIN }
    return { token: anonymousFormToken(context as unknown as PageContext), cookies }
  }

  test('is that of the cookie', () => {
    expect(tokenFor(TOKEN)).toEqual({ token: TOKEN, cookies: [] })
  })

  test.each([undefined, '', TOKEN.slice(1), `${TOKEN}x`, `x${TOKEN}`, 'undefined'])('is a new one if the cookie is "%s"', (cookie) => {
    const { token, cookies } = tokenFor(cookie)
    expect([token, cookies]).toEqual([
      expect.stringMatching(/^[\w-]{43}$/),
      [`__Host-lk_form=${token}; Path=/; HttpOnly; Secure; SameSite=Lax`],
    ])
    expect(token).not.toBe(tokenFor(cookie).token)
  })
})
