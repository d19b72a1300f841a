import { hash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { GLOBAL, type Key } from '../../src/store/keys.ts'
import { startForSuite } from '../support/board-team.ts'
import { codeAt, giveAuthenticator, SoftwareAuthenticator, TOTP_SECRET } from '../support/second-factor.ts'
import type { Person } from '../support/service.ts'
import { formOf, giveAccount, signedIn, Visitor, type ReceivedPage } from '../support/visitor.ts'

const MINUTE = 60_000
let person: Person
let authenticator: SoftwareAuthenticator
const service = await startForSuite()
const workspaceId = await service.workspace()
beforeEach(async () => {
  service.now += 20 * MINUTE
  person = await service.person(workspaceId)
  authenticator = new SoftwareAuthenticator()
})

/** All that is stored for people and their sessions, but when these were seen. A challenge that was answered wrongly is used up. */
async function stored(): Promise<string> {
  const all = (await service.recordKeys(GLOBAL)).filter((key) => !key.startsWith('challenge:')).toSorted()
  const text = JSON.stringify(await service.write(GLOBAL, (tx) => tx.read(all as Key<unknown>[])))
  return hash('sha256', text.replaceAll(/"seen_at":"[^"]*"/g, ''))
}

const isSignedIn = ({ cookies }: ReceivedPage) => /^lk_session=[^;]/.test(cookies.get('lk_session') ?? '')

/** Something that a passkey answers: where the answer is sent, the member of the form that has it, and what the form has beside it. */
interface Flow {
  readonly path: string
  readonly field: string
  readonly challengePath: string
  /** a browser that can ask for the challenge */
  browser(): Promise<Visitor>
  readonly fields?: Readonly<Record<string, string>>
  answer(options: any, origin: string, rpId: string): string
}

/** A browser where the person has signed in some minutes ago. */
const signedInSince = (minutes: number) => async () => {
  const visitor = await signedIn(service, person)
  service.now += minutes * MINUTE
  return visitor
}
const get = (options: any, origin: string, rpId: string) => authenticator.get(options, origin, rpId)

const flows: Readonly<Record<string, Flow>> = {
  'a registration': {
    path: '/settings/account/passkeys/new',
    field: 'attestation',
    challengePath: '/settings/account/passkeys/challenge',
    // The password is recent enough, and is not when the challenge is nearly over.
    browser: signedInSince(6),
    fields: { name: 'Laptop' },
    // An assertion names the relying party, and a registration its hash.
    answer: (options, origin, rpId) => authenticator.create({ ...options, rp: { ...options.rp, id: rpId } }, origin),
  },
  'a sign-in': {
    path: '/settings/sign-in/passkey',
    field: 'passkey',
    challengePath: '/settings/sign-in/passkey-challenge',
    async browser() {
      await giveAccount(service, person)
      const visitor = new Visitor(service)
      await visitor.open('/settings/sign-in')
      return visitor
    },
    answer: get,
  },
  'a proof': {
    path: '/settings/account/authenticator',
    field: 'passkey',
    challengePath: '/settings/account/passkeys/prove',
    // A recent password needs no proof.
    browser: signedInSince(11),
    answer: get,
  },
}

const formToken = async (visitor: Visitor, path: string) => {
  await visitor.open(path === flows['a sign-in']!.path ? '/settings/sign-in' : path)
  return formOf(visitor.page!.text, path).hidden['form_token']!
}
const rpIdOf = (options: any): string => options.rpId ?? options.rp.id
/** Asks for a challenge, as the script of the page does. */
async function ask({ path, challengePath }: Flow, visitor: Visitor): Promise<{ readonly options: any; readonly form_token: string }> {
  const form_token = await formToken(visitor, path)
  const { status, text } = await visitor.post(challengePath, { form_token })
  expect(status).toBe(200)
  return { options: JSON.parse(text), form_token }
}
const send = ({ path, field, fields }: Flow, visitor: Visitor, form_token: string, answer: string): Promise<ReceivedPage> =>
  visitor.post(path, { form_token, ...fields, [field]: answer })

describe.each(Object.entries(flows))('the challenge of %s', (name, flow) => {
  beforeEach(async () => {
    if (name !== 'a registration') await authenticator.giveTo(service, person)
  })

  test('is accepted once: the same answer, and another one, are refused afterwards', async () => {
    const visitor = await flow.browser()
    const { options, form_token } = await ask(flow, visitor)
    const answer = flow.answer(options, visitor.origin, rpIdOf(options))
    expect(options.allowCredentials?.length).toBe(name === 'a proof' ? 1 : undefined)
    const before = await stored()
    const copy = new Visitor(service, { address: visitor.address })
    for (const [cookie, value] of visitor.jar) copy.jar.set(cookie, value)
    expect((await send(flow, visitor, form_token, answer)).status).toBeLessThan(400)
    const after = await stored()
    expect(after).not.toBe(before)
    for (const replayed of [answer, flow.answer(options, visitor.origin, rpIdOf(options))]) {
      // The browser that has succeeded, and one with the cookies from before.
      for (const from of [visitor, copy]) {
        if (name === 'a proof') service.now += 11 * MINUTE
        const page = await send(flow, from, form_token, replayed)
        expect(page.status).toBeGreaterThanOrEqual(300)
        expect(isSignedIn(page)).toBe(false)
      }
    }
    expect(await stored()).toBe(after)
  })

  /** The browser of another session, which is as old as the attempt's. */
  const otherBrowser = async () => {
    const { now } = service
    const visitor = await flow.browser()
    service.now = now
    return visitor
  }
  /**
   * What is wrong with an answer: its browser (the own one, another one of the person, or a stranger's), its origin, relying party or time.
   */
  interface Wrong {
    readonly from?: 0 | 1 | 2
    readonly origin?: string
    readonly rpId?: string
    readonly after?: number
  }
  const wrong: Record<string, Wrong> = {
    'in another session of the same person': { from: 1 },
    'in a session of another person': { from: 2 },
    'after five minutes': { after: 5 * MINUTE },
    'on a page of another origin': { origin: 'https://localhost.evil.example' },
    'for another relying party': { rpId: 'evil.example' },
  }
  test.each(Object.keys(wrong))('is refused if it is answered %s, and nothing is changed', async (how) => {
    const { from = 0, origin, rpId, after = 0 } = wrong[how]!
    const own = person
    person = await service.person(workspaceId)
    const stranger = await otherBrowser()
    person = own
    const other = await otherBrowser()
    const visitor = await flow.browser()
    const { options, form_token } = await ask(flow, visitor)
    const sender = [visitor, other, stranger][from]!
    const token = from === 0 ? form_token : await formToken(sender, flow.path)
    service.now += after
    const answer = flow.answer(options, origin ?? visitor.origin, rpId ?? rpIdOf(options))
    const before = await stored()
    const page = await send(flow, sender, token, answer)
    expect(page.status).toBeGreaterThanOrEqual(400)
    expect(isSignedIn(page)).toBe(false)
    expect(await stored()).toBe(before)
  })

  test.each(Object.keys(flows).filter((other) => other !== name))(
    'is refused if it is answered to %s, and nothing is changed',
    async (other) => {
      const target = flows[other]!
      // Nothing but the purpose of the challenge is wrong: the passkey is one that the other page accepts, and the session is recent for a
      // registration and not for a proof.
      await authenticator.giveTo(service, person)
      if (other === 'a registration') authenticator = new SoftwareAuthenticator()
      const page = name === 'a proof' ? flows['a registration']! : flow
      const visitor = await page.browser()
      const { options, form_token } = await ask({ ...flow, path: page.path }, visitor)
      if (other === 'a proof') service.now += 4.5 * MINUTE
      const rp = { id: rpIdOf(options) }
      const user = { id: Buffer.from(person.id).toString('base64url') }
      const answer = target.answer({ ...options, rp, user, rpId: rp.id }, visitor.origin, rp.id)
      const before = await stored()
      const response = await send(target, visitor, form_token, answer)
      expect(response.status).toBeGreaterThanOrEqual(300)
      expect(isSignedIn(response)).toBe(false)
      expect(await stored()).toBe(before)
    },
  )

  test('is not accepted as a challenge for a code', async () => {
    const visitor = await flow.browser()
    const { options, form_token } = await ask(flow, visitor)
    await giveAuthenticator(service, person)
    visitor.jar.set('lk_second_factor', options.challenge)
    const before = await stored()
    const page = await visitor.post('/settings/sign-in/second-factor', { form_token, code: codeAt(TOTP_SECRET, service.now) })
    expect(page.status).toBeGreaterThanOrEqual(300)
    expect(isSignedIn(page)).toBe(false)
    expect(await stored()).toBe(before)
  })
})
