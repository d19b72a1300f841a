import { beforeEach, describe, expect, test } from 'vitest'
import { findPerson, recognize } from '../../../src/auth/provider/identities.ts'
import type { Claims } from '../../../src/auth/provider/identity-provider.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { setUpRecords } from '../../support/memory-records.ts'

const NOW = '2026-11-20T12:00:00.000Z'
const clock = () => Date.parse(NOW)
const email = 'ann@example.org'
const account = {
  user_id: 'usr_1',
  email,
  email_confirmed: false,
  password_hash: 'scrypt',
  devices: ['device'],
  created_at: NOW,
  updated_at: NOW,
}
const claims = (members: Partial<Claims> = {}): Claims => ({
  issuer: 'https://login.example',
  subject: 'ann',
  email,
  hasEmail: true,
  provedAt: undefined,
  ...members,
})

describe('an identity with the verified address of a person', () => {
  const { add, read, work } = setUpRecords(GLOBAL)
  const recognized = (given: Claims, userId = 'usr_1') => work((tx) => recognize(tx, given, userId, clock))
  beforeEach(() => add({ [keys.account('usr_1')]: account, [keys.accountEmail(sha256Hex(email))]: { user_id: 'usr_1' } }))

  test('confirms the address when they sign in', async () => {
    const found = await work((tx) => findPerson(tx, claims(), '', clock))
    expect(found).toEqual({ account: { ...account, email_confirmed: true }, isNew: true })
  })

  test('confirms the address of the person who is signed in, changes nothing else, and is theirs from then on', async () => {
    expect(await recognized(claims())).toEqual({ isNew: true })
    expect(await read(keys.account('usr_1'))).toEqual({ ...account, email_confirmed: true })
    expect(await recognized(claims({ email: undefined }))).toEqual({ isNew: false })
  })

  test.each<[what: string, given: Claims, userId: string]>([
    ['the address is another one', claims({ email: 'bob@example.org' }), 'usr_1'],
    ['there is no address', claims({ email: undefined }), 'usr_1'],
    ['the account of the person is absent', claims(), 'usr_2'],
    ['there is neither an address nor an account', claims({ email: undefined }), 'usr_2'],
  ])('is not bound if %s', async (_what, given, userId) => {
    expect(await recognized(given, userId)).toBeUndefined()
    expect(await read(keys.account('usr_1'))).toEqual(account)
  })
})
