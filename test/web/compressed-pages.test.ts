import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { maskFormToken, newFormToken, unmaskFormToken } from '../../src/auth/accounts/form-token.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { formOf, signedIn } from '../support/visitor.ts'

// Pages are compressed, so what is secret in them is written in another way each time.
const service = await startForSuite()
const { owner, visitor, api, base, boardId, columns } = await buildTeam(service)
const tokensOf = (html: string) =>
  new Set([...html.matchAll(/(?:name="form_token" value|data-token)="([^"]*)"/g)].map(([, token]) => token!))
const create = `${base}/do/cards.create`
const boardPage = async () => (await visitor.open(`${base}/boards/${boardId}`)).text
/** Sends the form of a new card. @returns the status */
const send = async (title: string, form_token: string, from = visitor) => {
  const fields = { column_id: columns[0]!, board_id: boardId, title, form_token }
  return (await from.post(create, fields)).status
}
const titles = async () => (await api('GET', `/boards/${boardId}/cards`)).map(({ title }: any) => title)

describe('the form token of a session', () => {
  test('has one text on a page and another one on the next, and both are accepted, as is the text of an answer for scripts', async () => {
    const [first, second] = [tokensOf(await boardPage()), tokensOf(await boardPage())]
    expect([first.size, second.size]).toEqual([1, 1])
    const [one, two] = [[...first][0]!, [...second][0]!]
    expect(one).not.toBe(two)
    // Not even their parts are the same at the same places.
    expect([...one].filter((letter, i) => letter === two[i]).length).toBeLessThan(20)
    for (const [title, token] of [
      ['One', one],
      ['Two', two],
      ['Three', one],
    ])
      expect([title, await send(title!, token!)]).toEqual([title, 303])
    expect(await titles()).toEqual(['One', 'Two', 'Three'])
  })

  test.each<[string, (token: string) => string | Promise<string>]>([
    ['of another session of the person', async () => (await signedIn(service, owner)).formToken],
    ['of somebody else', async () => (await signedIn(service, await service.person(owner.workspaceId))).formToken],
    ['with another letter in it', (token) => token.replace(/^./, (letter) => (letter === 'a' ? 'b' : 'a'))],
    ['with another letter at its end', (token) => token.replace(/.{4}$/, (end) => (end === 'aaaa' ? 'bbbb' : 'aaaa'))],
    ['with nothing but a pad', (token) => token.slice(0, 57) + 'A'.repeat(58)],
    ['that is too long', (token) => `${token}A`],
    ['that is empty', () => ''],
  ])('%s is refused', async (_name, change) => {
    const before = await titles()
    const changed = await change([...tokensOf(await boardPage())][0]!)
    const status = await send('Foreign', changed)
    expect({ status, titles: await titles() }).toEqual({ status: 403, titles: before })
  })

  test('is masked before a sign-in, too', async () => {
    const visitors = await signedIn(service, owner)
    visitors.jar.delete('lk_session')
    const token = async () => formOf((await visitors.open('/settings/sign-in')).text, '/settings/sign-in').hidden['form_token']!
    const [one, two] = [await token(), await token()]
    expect({ isOther: one !== two, length: one.length, isCookie: visitors.jar.get('lk_form') === one }).toEqual({
      isOther: true,
      length: 115,
      isCookie: false,
    })
    expect((await visitors.post('/settings/sign-in', { email: 'a@example.org', password: 'wrong', form_token: one })).status).toBe(401)
  })

  test('comes back from what masks it', () => {
    const token = newFormToken(owner.id, systemRandom)
    expect(unmaskFormToken(maskFormToken(token, systemRandom))).toBe(token)
    for (const other of [token, '', 'x', '!'.repeat(115), 'ä'.repeat(115)]) expect(unmaskFormToken(other)).toBe(other)
  })
})

describe('a page', () => {
  const get = (path: string, coding: string) =>
    service.app.fetch(new Request(`http://localhost${path}`, { headers: { cookie: visitor.cookie, 'accept-encoding': coding } }))

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is compressed with %s if the browser asks for it, and so are the answers for its script', async (coding, decompress) => {
    for (const path of [`/boards/${boardId}`, `/boards/${boardId}/changes?after=absent`, `/find`, `/cards?view=recent`]) {
      const [response, plain] = [await get(base + path, coding), await get(base + path, 'identity')]
      const [bytes, text] = [Buffer.from(await response.arrayBuffer()), await plain.text()]
      if (text.length <= 1024) continue
      expect([path, response.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual([path, coding, null])
      for (const { headers } of [response, plain]) expect(headers.get('vary')).toBe('Cookie, Accept-Encoding')
      expect(response.headers.get('content-length')).toBe(String(bytes.length))
      expect(bytes.length).toBeLessThan(text.length / 2)
      expect(decompress(bytes).toString().length).toBe(text.length)
    }
  })

  test('keeps all of its cookies', async () => {
    visitor.jar.delete('lk_form')
    const response = await service.app.fetch(new Request('http://localhost/settings/sign-in', { headers: { 'accept-encoding': 'br' } }))
    expect([response.headers.get('content-encoding'), response.headers.getSetCookie()]).toEqual([
      'br',
      [expect.stringContaining('lk_form=')],
    ])
  })

  test('that shows a secret once is not compressed', async () => {
    await visitor.choose(owner.workspaceId)
    const { action, hidden } = formOf(visitor.page!.text, '/settings/confirm')
    const response = await service.app.fetch(
      new Request(`http://localhost${action}`, {
        method: 'POST',
        body: String(new URLSearchParams(hidden)),
        headers: {
          cookie: visitor.cookie,
          'accept-encoding': 'br',
          origin: 'http://localhost',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
      }),
    )
    const text = await response.text()
    expect({ encoding: response.headers.get('content-encoding'), hasToken: text.includes('id="plaintext"') }).toEqual({
      encoding: null,
      hasToken: true,
    })
  })
})
