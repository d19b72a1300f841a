import { beforeEach, describe, expect, test } from 'vitest'
import { beginSession, resumeSession } from '../../../src/auth/accounts/sessions.ts'
import { findInvitedUser, invite, signUp } from '../../../src/auth/accounts/sign-up.ts'
import { sha256Hex } from '../../../src/auth/secrets.ts'
import { addUser } from '../../../src/admin/users.ts'
import { DAY } from '../../../src/model/time.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'
import { BROWSER } from '../../support/visitor.ts'

describe.each(drivers)('sign-up, on $name', async (driver) => {
  let userId: string
  let email: string
  const service = await Service.forSuite(driver)
  beforeEach(async () => {
    userId = (await addUser(service.deps, { display_name: 'Ann' })).id
    email = `${userId}@example.org`
  })

  const visit = { formToken: 'form', network: '192.0.2.1', agent: 'A browser', device: undefined, currentSession: undefined }
  const use = async (code: string, address = email, passwordHash = 'hash') => {
    const result = await signUp(service.deps, { code, email: address, passwordHash, ...visit })
    return 'refused' in result ? result : { userId: result.userId }
  }
  const accountOf = (id = userId) => service.write(GLOBAL, (tx) => tx.get(keys.account(id)))
  const ownerOf = async (address: string) => (await service.write(GLOBAL, (tx) => tx.get(keys.accountEmail(sha256Hex(address)))))?.user_id

  test('only the hash of a code is stored, with its person and its expiry', async () => {
    const { code, expires_at } = await invite(service.deps, userId)
    const stored = await service.write(GLOBAL, (tx) => tx.get(keys.signUp(userId)))
    expect(stored).toEqual({ user_id: userId, hash: sha256Hex(code), expires_at })
  })

  test.each(['', 'hello', '.', '../../x.y', '{0.user_id}.x'])(
    'the text "%s" cannot be a code, so it is refused without a read',
    async (code) => {
      service.store.trips = 0
      expect({ outcome: await use(code), trips: service.store.trips }).toEqual({ outcome: { refused: 'no_link' }, trips: 0 })
    },
  )

  test('if a code is used several times at once, one use succeeds', async () => {
    const { code } = await invite(service.deps, userId)
    const results = await Promise.all(Array.from({ length: 6 }, (_, i) => use(code, email, `hash ${i}`)))
    expect(results.filter((result) => 'userId' in result)).toHaveLength(1)
    const winner = results.findIndex((result) => 'userId' in result)
    expect((await accountOf())!.password_hash).toBe(`hash ${winner}`)
  })

  test.each([
    [-1, true],
    [0, false],
  ])('a code expires after 7 days: %d ms from then it is valid: %s', async (offset, valid) => {
    const start = service.now
    const { code, expires_at } = await invite(service.deps, userId)
    expect(expires_at).toBe(new Date(start + 7 * DAY).toISOString())
    service.now = start + 7 * DAY + offset
    const result = await use(code)
    service.now = start
    expect(result).toEqual(valid ? { userId } : { refused: 'no_link' })
  })

  test('only the newest code of a person works', async () => {
    const { code: first } = await invite(service.deps, userId)
    const { code: second } = await invite(service.deps, userId)
    expect([await use(first), await use(second)]).toEqual([{ refused: 'no_link' }, { userId }])
  })

  test('invented codes are refused', async () => {
    const invitation = await invite(service.deps, userId)
    const other = await addUser(service.deps, { display_name: 'Bob' })
    const [tag, secret] = invitation.code.split('.')
    for (const code of [tag!, `${tag}.`, `${tag}.${secret}x`, `${other.id.slice(4)}.${secret}`, `${tag}:x.${secret}`])
      expect([code, await service.write(GLOBAL, (tx) => findInvitedUser(tx, code, service.deps.clock))]).toEqual([code, undefined])
  })

  test('if two people choose one e-mail address at once, one of them gets it', async () => {
    const bob = await addUser(service.deps, { display_name: 'Bob' })
    const codes = [await invite(service.deps, userId), await invite(service.deps, bob.id)]
    const results = await Promise.all(codes.map(({ code }) => use(code)))
    expect(results.filter((result) => 'refused' in result)).toEqual([{ refused: 'email_taken' }])
    expect([{ userId: await ownerOf(email) }]).toEqual(results.filter((result) => 'userId' in result))
  })

  test('a second sign-up replaces the e-mail address and password, frees the old address, and ends all sessions and known browsers', async () => {
    await use((await invite(service.deps, userId)).code)
    await service.write(GLOBAL, async (tx) => {
      const account = (await tx.get(keys.account(userId)))!
      tx.put(keys.account(userId), { ...account, devices: ['device'] })
    })
    const { secret } = await service.write(GLOBAL, (tx) => beginSession(tx, { user_id: userId, email, ...BROWSER }, service.deps))
    const created = new Date(service.now).toISOString()
    service.now += 1000
    await use((await invite(service.deps, userId)).code, `new.${email}`, 'new hash')
    expect(await service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps))).toBeUndefined()
    const at = new Date(service.now).toISOString()
    expect(await accountOf()).toMatchObject({ email: `new.${email}`, password_hash: 'new hash', created_at: created, updated_at: at })
    // Only the browser that did it is known.
    const { devices } = (await accountOf())!
    expect({ count: devices.length, hasEarlier: devices.includes('device') }).toEqual({ count: 1, hasEarlier: false })
    expect([await ownerOf(email), await ownerOf(`new.${email}`)]).toEqual([undefined, userId])
  })
})
