import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { beginSession, resumeSession } from '../../../src/auth/accounts/sessions.ts'
import { hashOf } from '../../../src/auth/accounts/secrets.ts'
import { invite, invited, SIGN_UP_WITHIN, signUp } from '../../../src/auth/accounts/sign-up.ts'
import { addUser } from '../../../src/admin/users.ts'
import { GLOBAL, keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service } from '../../support/service.ts'

describe.each(drivers)('sign-up, on $name', (driver) => {
  let service: Service
  let userId: string
  let email: string
  beforeAll(async () => {
    service = await Service.start(driver)
  })
  afterAll(() => service.stop())
  beforeEach(async () => {
    userId = (await addUser(service.deps, { display_name: 'Ann' })).id
    email = `${userId}@example.org`
  })

  const use = (code: string, address = email, passwordHash = 'hash') => signUp(service.deps, { code, email: address, passwordHash })
  const accountOf = (id = userId) => service.write(GLOBAL, (tx) => tx.get(keys.account(id)))
  const ownerOf = async (address: string) => (await service.write(GLOBAL, (tx) => tx.get(keys.accountEmail(hashOf(address)))))?.user_id

  test('a link works once', async () => {
    const { code } = await invite(service.deps, userId)
    expect([await use(code), await use(code, email, 'another')]).toEqual([{ userId }, { refused: 'no_link' }])
    expect(await accountOf()).toMatchObject({ user_id: userId, email, password_hash: 'hash' })
  })

  test('of those who use it at the same time one gets through', async () => {
    const { code } = await invite(service.deps, userId)
    const came = await Promise.all(Array.from({ length: 6 }, (_, i) => use(code, email, `hash ${i}`)))
    expect(came.filter((one) => 'userId' in one)).toHaveLength(1)
    const winner = came.findIndex((one) => 'userId' in one)
    expect((await accountOf())!.password_hash).toBe(`hash ${winner}`)
  })

  test.each([
    [-1, true],
    [0, false],
    [1, false],
  ])('it is good for a week: %d ms from then: %s', async (off, good) => {
    const at = service.now
    const { code, expires_at } = await invite(service.deps, userId)
    expect(expires_at).toBe(new Date(at + SIGN_UP_WITHIN).toISOString())
    service.now = at + SIGN_UP_WITHIN + off
    const came = await use(code)
    service.now = at
    expect([SIGN_UP_WITHIN, came]).toEqual([7 * 24 * 60 * 60 * 1000, good ? { userId } : { refused: 'no_link' }])
  })

  test('only the newest one works', async () => {
    const { code: first } = await invite(service.deps, userId)
    const { code: second } = await invite(service.deps, userId)
    expect([await use(first), await use(second)]).toEqual([{ refused: 'no_link' }, { userId }])
  })

  test('what is stored is no code', async () => {
    const { code } = await invite(service.deps, userId)
    const stored = await service.write(GLOBAL, (tx) => tx.get(keys.signUp(userId)))
    expect(JSON.stringify(stored)).not.toContain(code.split('.')[1])
  })

  test('made-up codes lead to nobody', async () => {
    const { code } = await invite(service.deps, userId)
    const other = await addUser(service.deps, { display_name: 'Bob' })
    const [who, secret] = code.split('.')
    for (const made of [
      '',
      '.',
      who!,
      `${who}.`,
      `${who}.${secret}x`,
      `${other.id.slice(4)}.${secret}`,
      `${who}:x.${secret}`,
      `{0.x}.${secret}`,
    ])
      expect([made, await service.write(GLOBAL, (tx) => invited(tx, made, service.deps.clock))]).toEqual([made, undefined])
  })

  test("another person's address is not taken over, and the link is good for another one", async () => {
    const bob = await addUser(service.deps, { display_name: 'Bob' })
    await use((await invite(service.deps, userId)).code)
    const { code } = await invite(service.deps, bob.id)
    expect(await use(code)).toEqual({ refused: 'email_taken' })
    expect(await ownerOf(email)).toBe(userId)
    expect(await use(code, `bob.${email}`)).toEqual({ userId: bob.id })
  })

  test('of two people who take one address at the same time one gets it', async () => {
    const bob = await addUser(service.deps, { display_name: 'Bob' })
    const codes = [await invite(service.deps, userId), await invite(service.deps, bob.id)]
    const came = await Promise.all(codes.map(({ code }) => use(code)))
    expect(came.filter((one) => 'refused' in one)).toEqual([{ refused: 'email_taken' }])
    expect([{ userId: await ownerOf(email) }]).toEqual(came.filter((one) => 'userId' in one))
  })

  test('a second link sets what was lost: the old address is free, and every session and known browser is gone', async () => {
    await use((await invite(service.deps, userId)).code)
    await service.write(GLOBAL, async (tx) => {
      const account = (await tx.get(keys.account(userId)))!
      tx.put(keys.account(userId), { ...account, devices: ['device'] })
    })
    const { secret } = await service.write(GLOBAL, (tx) =>
      beginSession(tx, { user_id: userId, email }, service.deps.clock, service.deps.random),
    )
    await use((await invite(service.deps, userId)).code, `new.${email}`, 'new hash')
    expect(await service.write(GLOBAL, (tx) => resumeSession(tx, secret, service.deps.clock))).toBeUndefined()
    expect(await accountOf()).toMatchObject({ email: `new.${email}`, password_hash: 'new hash', devices: [] })
    expect([await ownerOf(email), await ownerOf(`new.${email}`)]).toEqual([undefined, userId])
  })
})
