import { renderToString } from 'preact-render-to-string'
import { beforeEach, describe, expect, test } from 'vitest'
import { beginSession } from '../../src/auth/accounts/sessions.ts'
import { SignIn } from '../../src/auth/accounts/sign-in.ts'
import { setAccount } from '../../src/auth/accounts/sign-up.ts'
import type { Session } from '../../src/model/account.ts'
import { systemRandom } from '../../src/model/ids.ts'
import type { Change } from '../../src/store/port.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { transact } from '../../src/store/transact.ts'
import type { SignedInContext } from '../../src/web/page-context.ts'
import { passwordField, reauthenticate } from '../../src/web/account/re-authentication.ts'
import { CountingStore } from '../support/counting-store.ts'
import { captureLog } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { cheapPasswords } from '../support/service.ts'
import { PASSWORD } from '../support/visitor.ts'

const MINUTE = 60_000
const USER = 'usr_00000000000000000000'
const ADMIN = ['kanban:admin']
const ORIGIN = 'http://localhost'

let now: number
let store: CountingStore
let captured: ReturnType<typeof captureLog>
let session: Session
let context: SignedInContext
/** the keys that each commit wrote and removed */
let commits: string[][]
beforeEach(async () => {
  now = Date.parse('2026-11-20T12:00:00.000Z')
  captured = captureLog()
  store = new CountingStore((await memory.open()).store)
  const deps = { store, clock: () => now, random: systemRandom }
  const passwordHash = await cheapPasswords.hash(PASSWORD)
  session = await transact(store, GLOBAL, systemRandom, async (tx) => {
    await setAccount(tx, { userId: USER, email: 'a@example.org', passwordHash }, deps.clock)
    return (await beginSession(tx, { user_id: USER, email: 'a@example.org' }, deps.clock, systemRandom)).session
  })
  commits = []
  const commit = store.commit.bind(store)
  store.commit = (partition: string, change: Change) => {
    commits.push([...change.put.keys(), ...change.remove])
    return commit(partition, change)
  }
  const web = { ...deps, log: captured.log, signIn: new SignIn(deps, cheapPasswords) }
  const members = { session, origin: ORIGIN, pendingCookies: [], form: new URLSearchParams(), requestId: 'req_1', address: '192.0.2.1' }
  context = { web, ...members } as unknown as SignedInContext
})

/** @param elapsed milliseconds since the password was entered */
const submit = (
  elapsed: number,
  password: string | undefined,
  ...rest: [scopes?: string[], update?: (session: Session) => Session | undefined]
) => {
  now = Date.parse(session.proved_at) + elapsed
  if (password !== undefined) context.form.set('password', password)
  const [scopes = ADMIN, update] = rest
  return reauthenticate(context, scopes, update)
}
const stored = (hash: string) => transact(store, GLOBAL, systemRandom, (tx) => tx.get(keys.session(hash)))
const rename = (before: Session): Session => ({ ...before, email: 'changed' })

describe('the password field', () => {
  test('is shown for kanban:admin if the password was entered more than ten minutes ago', () => {
    const shown = (elapsed: number, scopes: readonly string[]) => {
      now = Date.parse(session.proved_at) + elapsed
      return passwordField(context, scopes) !== undefined
    }
    expect([shown(10 * MINUTE, ADMIN), shown(10 * MINUTE + 1, ADMIN), shown(60 * MINUTE, ['kanban:write'])]).toEqual([false, true, false])
  })

  test('can be filled in by a password manager, and has the error of the last attempt', () => {
    now += 11 * MINUTE
    const text = renderToString(passwordField(context, ADMIN, 'The password is wrong.')!)
    expect(text.replaceAll(/\s+/g, ' ')).toBe(
      '<div class="field"><label for="password">Your password</label>' +
        '<p class="hint" id="password-hint">A token with kanban:admin requires your password, unless you entered it in the last 10 minutes.</p>' +
        '<input id="password" name="password" aria-describedby="password-hint password-error" aria-invalid="true" type="password" ' +
        'autocomplete="current-password" required maxlength="200"/>' +
        '<p class="error" id="password-error">The password is wrong.</p></div>',
    )
  })
})

describe('a form whose person entered the password recently', () => {
  test('keeps the session, and writes nothing', async () => {
    expect(await submit(10 * MINUTE, undefined)).toEqual({ session })
    expect([context.pendingCookies, commits.flat(), captured.text()]).toEqual([[], [], ''])
  })

  test('changes the session in one commit', async () => {
    expect(await submit(0, undefined, ADMIN, rename)).toEqual({ session: { ...session, email: 'changed' } })
    expect(await stored(session.hash)).toEqual({ ...session, email: 'changed' })
    expect([context.pendingCookies, commits]).toEqual([[], [[keys.session(session.hash)]]])
  })

  test('changes nothing if the change is refused', async () => {
    expect(await submit(0, undefined, ADMIN, () => undefined)).toBe('refused')
    expect([context.pendingCookies, commits.flat(), await stored(session.hash)]).toEqual([[], [], session])
  })

  test('is refused if the session has ended', async () => {
    await transact(store, GLOBAL, systemRandom, async (tx) => {
      await tx.get(keys.session(session.hash))
      tx.remove(keys.session(session.hash))
    })
    expect(await submit(0, undefined)).toBe('no_session')
    expect(context.pendingCookies).toEqual([])
  })
})

describe('a form whose person did not enter the password recently', () => {
  test('is refused without the password', async () => {
    expect(await submit(11 * MINUTE, undefined)).toEqual({ status: 403, error: 'Enter your password to continue.' })
    expect([commits.flat(), captured.text()]).toEqual([[], ''])
  })

  test('is accepted without the password if its scopes do not require it', async () => {
    expect(await submit(11 * MINUTE, undefined, ['kanban:write'])).toEqual({ session })
  })

  test('renews and changes the session if the password is right', async () => {
    const { session: renewed } = (await submit(11 * MINUTE, PASSWORD, ADMIN, rename)) as { session: Session }
    const at = new Date(now).toISOString()
    expect(renewed).toEqual({
      ...session,
      email: 'changed',
      hash: renewed.hash,
      form_token: renewed.form_token,
      seen_at: at,
      proved_at: at,
    })
    expect([renewed.hash === session.hash, renewed.form_token === session.form_token]).toEqual([false, false])
    expect([await stored(session.hash), await stored(renewed.hash)]).toEqual([undefined, renewed])
    expect(context.pendingCookies).toEqual([expect.stringMatching(/^lk_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)])
    expect(captured.lines).toMatchObject([
      { level: 30, event: 'web.reauthenticated', user_id: USER, request_id: 'req_1', address: '192.0.2.1' },
    ])
  })

  test('keeps the session if the change is refused', async () => {
    expect(await submit(11 * MINUTE, PASSWORD, ADMIN, () => undefined)).toBe('refused')
    expect([context.pendingCookies, await stored(session.hash)]).toEqual([[], session])
  })

  test('is refused and logged if the password is wrong', async () => {
    expect(await submit(11 * MINUTE, 'another password')).toEqual({ status: 403, error: 'The password is wrong. Try again.' })
    expect([commits.flat(), context.pendingCookies]).toEqual([[], []])
    expect(captured.lines).toMatchObject([
      { level: 40, event: 'web.reauthentication_refused', user_id: USER, request_id: 'req_1', address: '192.0.2.1' },
    ])
  })

  test('is throttled and logged after eight wrong passwords, even with the right one', async () => {
    for (let i = 0; i < 8; i++) await submit(11 * MINUTE, `guess number ${i}`)
    const { lines } = captured
    expect(await submit(11 * MINUTE, PASSWORD)).toEqual({
      status: 429,
      error: 'Too many attempts. Try again in 2 minutes.',
      headers: { 'retry-after': '120' },
    })
    expect(captured.lines.slice(lines.length)).toMatchObject([
      { level: 40, event: 'web.reauthentication_throttled', user_id: USER, request_id: 'req_1', address: '192.0.2.1' },
    ])
  })
})
