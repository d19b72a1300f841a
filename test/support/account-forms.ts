import { addAlert } from '../../src/auth/accounts/alerts.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { codeAt, giveAuthenticator, SoftwareAuthenticator, TOTP_SECRET } from './second-factor.ts'
import type { Person, Service } from './service.ts'
import { formOf, giveAccount, PASSWORD, signedIn, Visitor } from './visitor.ts'

/** A form that is filled in and ready to be sent. */
export interface FilledForm {
  readonly visitor: Visitor
  readonly path: string
  readonly fields: Record<string, string>
}

/** Fills in the form of the current page. @param actionPrefix of the form that is meant, if the page has several */
export function fill(visitor: Visitor, fields: Record<string, string>, actionPrefix?: string): FilledForm {
  const { action, hidden } = formOf(visitor.page!.text, actionPrefix)
  return { visitor, path: action, fields: { ...hidden, ...fields } }
}

/** Fills in the form of each page of an account correctly, by the path of the page. */
export function accountForms(running: () => Service, person: () => Person): Record<string, () => Promise<FilledForm>> {
  const on = async (path: string, fields: Record<string, string> = {}, prepare?: () => Promise<unknown>): Promise<FilledForm> => {
    const visitor = await signedIn(running(), person())
    await prepare?.()
    await visitor.open(path)
    return fill(visitor, fields, path)
  }
  const code = () => codeAt(TOTP_SECRET, running().now)
  const withApp = () => giveAuthenticator(running(), person())
  /** Gets a challenge to a passkey, as the script does. */
  const challengeOn = async (visitor: Visitor, path: string, action: string): Promise<[unknown, Record<string, string>]> => {
    const { hidden } = formOf(visitor.page!.text, action)
    return [JSON.parse((await visitor.post(path, { form_token: hidden['form_token']! })).text), hidden]
  }
  const anonymous = async () => {
    const visitor = new Visitor(running())
    await giveAccount(running(), person())
    await visitor.open('/settings/sign-in')
    return visitor
  }
  return {
    '/settings/sign-in/second-factor': async () => {
      const visitor = new Visitor(running())
      const email = await giveAccount(running(), person())
      await withApp()
      await visitor.signIn(email)
      return fill(visitor, { code: code() })
    },
    '/settings/sign-in/passkey-challenge': async () => ({ ...fill(await anonymous(), {}), path: '/settings/sign-in/passkey-challenge' }),
    '/settings/sign-in/passkey': async () => {
      const authenticator = new SoftwareAuthenticator()
      const visitor = await anonymous()
      await authenticator.giveTo(running(), person())
      const [options, hidden] = await challengeOn(visitor, '/settings/sign-in/passkey-challenge', '/settings/sign-in/passkey')
      const fields = { ...hidden, passkey: authenticator.get(options, visitor.origin) }
      return { visitor, path: '/settings/sign-in/passkey', fields }
    },
    '/settings/account/alerts': async () => {
      const members = { kind: 'new_sign_in', agent: 'Firefox', address: '192.0.2.1', session_id: null, name: null } as const
      const visitor = await signedIn(running(), person())
      const { deps } = running()
      await running().write(GLOBAL, (tx) => addAlert(tx, person().id, members, deps))
      await visitor.open('/settings/account')
      return fill(visitor, {}, '/settings/account/alerts')
    },
    '/settings/account/mails': () => on('/settings/account/mails', { commented: 'never' }),
    '/settings/account/password': () =>
      on('/settings/account/password', { present: PASSWORD, password: 'another passphrase', again: 'another passphrase' }),
    '/settings/account/sessions': async () => {
      await signedIn(running(), person())
      const visitor = await signedIn(running(), person())
      await visitor.open('/settings/account')
      return fill(visitor, { end: 'others' }, '/settings/account/sessions')
    },
    '/settings/account/revoke-tokens': () => on('/settings/account/revoke-tokens'),
    '/settings/account/authenticator': () => on('/settings/account/authenticator'),
    '/settings/account/authenticator/code': async () => {
      const { visitor } = await on('/settings/account/authenticator')
      const page = await visitor.submit()
      const secret = /<code class="spaced">([A-Z2-7 ]+)</.exec(page.text)![1]!.replaceAll(' ', '')
      return fill(visitor, { code: codeAt(secret, running().now) })
    },
    '/settings/account/authenticator/remove': () => on('/settings/account/authenticator/remove', {}, withApp),
    '/settings/account/recovery-codes': () => on('/settings/account/recovery-codes', {}, withApp),
    '/settings/account/passkeys/new': async () => {
      const { visitor } = await on('/settings/account/passkeys/new')
      const [options, hidden] = await challengeOn(visitor, '/settings/account/passkeys/challenge', '/settings/account/passkeys/new')
      const attestation = new SoftwareAuthenticator().create(options, visitor.origin)
      return { visitor, path: '/settings/account/passkeys/new', fields: { ...hidden, name: 'Laptop', attestation } }
    },
    '/settings/account/passkeys/challenge': async () => ({
      ...(await on('/settings/account/passkeys/new')),
      path: '/settings/account/passkeys/challenge',
    }),
    '/settings/account/passkeys/prove': async () => ({
      ...(await on('/settings/account/passkeys/new')),
      path: '/settings/account/passkeys/prove',
    }),
    '/settings/account/passkeys/{passkey}': () =>
      on('/settings/account/passkeys/pky_00000000000000000000', { name: 'Phone', do: 'rename' }, () =>
        new SoftwareAuthenticator().giveTo(running(), person()),
      ),
  }
}
