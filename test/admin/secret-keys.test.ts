import { beforeEach, describe, expect, test } from 'vitest'
import { adoptSecretKeys, forgetKey } from '../../src/admin/secret-keys.ts'
import { restore } from '../../src/admin/restore.ts'
import { addAuthenticator, offerAuthenticator, useCode } from '../../src/auth/accounts/second-factor.ts'
import { SecretKeyError, SecretKeys } from '../../src/auth/secret-keys.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { TestBoard } from '../support/board.ts'
import { findIn } from '../support/canary.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'
import { captureLog } from '../support/log.ts'
import { codeAt, giveAuthenticator, RECOVERY_CODE, TOTP_SECRET } from '../support/second-factor.ts'
import { Service, type Person } from '../support/service.ts'
import { backupOf, exportOf } from '../support/transfers.ts'
import { giveAccount, signedIn, Visitor } from '../support/visitor.ts'

const [first, second] = ['11'.repeat(32), '22'.repeat(32)]
const keysOf = (...texts: string[]) => (texts.length === 0 ? new SecretKeys([]) : SecretKeys.parse(texts.join(',')))
const secrets = new Map([['secret', TOTP_SECRET]])

describe.each(drivers)('the keys of secrets on $name', (driver) => {
  let service: Service
  let ann: Person
  const captured = captureLog()
  const adopt = (...texts: string[]) => adoptSecretKeys({ ...service.deps, secretKeys: keysOf(...texts) }, captured.log)
  const recorded = () => service.write(GLOBAL, (tx) => tx.get(keys.secretKey()))
  const stored = () => service.write(GLOBAL, (tx) => tx.get(keys.secondFactor(ann.id)))
  const accepts = (code: string, ...texts: string[]) =>
    service.write(GLOBAL, (tx) => useCode(tx, ann.id, code, { ...service.deps, secretKeys: keysOf(...texts) }))
  const code = () => codeAt(TOTP_SECRET, (service.now += 30_000))
  /** Stores the secret as an earlier version did. */
  const storePlain = async () => {
    const { authenticator, ...factor } = (await stored())!
    const pending = { secret: TOTP_SECRET, session_id: null, expires_at: '2026-11-20T12:00:00.000Z' }
    await service.write(GLOBAL, async (tx) => {
      await tx.read([keys.secondFactor(ann.id), keys.secretKey()])
      tx.put(keys.secondFactor(ann.id), { ...factor, pending, authenticator: { ...authenticator!, secret: TOTP_SECRET } })
      tx.remove(keys.secretKey())
    })
  }

  beforeEach(async () => {
    service = await Service.start(driver, { secretKeys: keysOf(first) })
    ann = await service.person(await service.workspace(), 'owner')
    await giveAccount(service, ann)
    await giveAuthenticator(service, ann)
    return () => service.stop()
  })

  test('a secret that was stored without a seal works, and is sealed at the next start with a key', async () => {
    await storePlain()
    await adopt()
    expect({ accepted: await accepts(code()), recorded: await recorded(), secret: (await stored())!.authenticator!.secret }).toStrictEqual({
      accepted: 'app',
      recorded: undefined,
      secret: TOTP_SECRET,
    })
    await adopt(first)
    expect(findIn(Buffer.from(JSON.stringify(await stored())), secrets)).toEqual([])
    expect({ accepted: await accepts(code(), first), recorded: await recorded() }).toEqual({
      accepted: 'app',
      recorded: { key_id: keysOf(first).ids[0], has_secrets: true, complete: true },
    })
  })

  test('after a start with a newer key, the earlier one is not needed any more', async () => {
    await adopt(first)
    await adopt(second, first)
    expect({ accepted: await accepts(code(), second), recorded: await recorded() }).toMatchObject({
      accepted: 'app',
      recorded: { key_id: keysOf(second).ids[0], complete: true },
    })
    await adopt(second)
    // A process that had started before cannot read it, and does not accept the code.
    await expect(accepts(code(), first)).rejects.toThrow(`need the key ${keysOf(second).ids[0]}`)
  })

  test('after a start with a newer key, a webhook has its secret and its header sealed with it', async () => {
    const board = await TestBoard.create(service, ann)
    const body = { url: 'https://hooks.example/', authorization: 'Bearer hunter2' }
    const { id, secret } = (await board.send('POST', `/boards/${board.id}/webhooks`, body)).body.data
    await adopt(second, first)
    const webhook = (await service.write(ann.workspaceId, (tx) => tx.get(keys.webhook(id))))!
    const open = (sealed: string) => keysOf(second).open(sealed, keys.webhook(id))
    expect({ secret: open(webhook.secret), authorization: open(webhook.authorization!) }).toEqual({
      secret,
      authorization: 'Bearer hunter2',
    })
  })

  test('a start without the key of the secrets is refused with one sentence, and after the key is forgotten it is not', async () => {
    const message = `the stored secrets need the key ${keysOf(first).ids[0]}, and LANEKEEPER_SECRET_KEY (or the file secret.key of a folder) `
    const advice = '; state that key too, or run "lanekeeper forget-key" if it is lost'
    await expect(adopt(second)).rejects.toThrow(new SecretKeyError(`${message}has only ${keysOf(second).ids[0]}${advice}`))
    await expect(adopt()).rejects.toThrow(new SecretKeyError(`${message}is missing${advice}`))
    expect(await forgetKey(service.adminDeps)).toEqual({ forgotten: [keysOf(first).ids[0]] })
    await adopt(second)
    expect(captured.lines.at(-1)).toMatchObject({ event: 'secrets.unreadable', count: 1, records: [keys.secondFactor(ann.id)] })
    await expect(accepts(code(), second)).rejects.toThrow('need the key')
    expect(await accepts(RECOVERY_CODE, second)).toBe('recovery')
    // It was found again.
    await adopt(second, first)
    expect({ accepted: await accepts(code(), second), complete: (await recorded())!.complete }).toEqual({ accepted: 'app', complete: true })
  })

  test('a key that has sealed nothing is replaced without a word', async () => {
    await service.write(GLOBAL, async (tx) => {
      const all = [keys.secretKey(), keys.secondFactor(ann.id)]
      await tx.read(all)
      for (const key of all) tx.remove(key)
    })
    for (const key of [first, second]) {
      await adopt(key)
      expect(await recorded()).toEqual({ key_id: keysOf(key).ids[0], has_secrets: false, complete: true })
    }
  })

  test('a check names the secrets that cannot be opened, if it has a key', async () => {
    const find = async (...texts: string[]) => {
      const { findings } = await findDamage({ ...service.adminDeps, secretKeys: keysOf(...texts) })
      return findings.map(({ kind, subject }) => `${kind} ${subject}`)
    }
    expect({ withFirst: await find(first), withNone: await find(), withSecond: await find(second) }).toEqual({
      withFirst: [],
      withNone: [],
      withSecond: [`secret_unreadable ${keys.secondFactor(ann.id)}`],
    })
  })

  test('a backup has the secrets sealed, an export has none, and a restored storage needs the key', async () => {
    const { lines } = await backupOf(service.adminDeps)
    const exported = await exportOf(service.adminDeps, ann.workspaceId)
    expect(lines.join('\n')).toContain('"sealed1.')
    expect(exported.lines.join('\n')).not.toContain('sealed1.')
    for (const text of [...lines, ...exported.lines]) expect(findIn(Buffer.from(text), new Map([...secrets, ['key', first]]))).toEqual([])
    const target = await Service.start(driver)
    await adoptSecretKeys({ ...target.deps, secretKeys: keysOf(second) }, captured.log)
    await restore(target.adminDeps, createIo(lines))
    await expect(adoptSecretKeys({ ...target.deps, secretKeys: keysOf(second) }, captured.log)).rejects.toThrow('need the key')
    const use = (tx: never) => useCode(tx, ann.id, code(), { ...service.deps, secretKeys: keysOf(first) })
    expect(await target.write(GLOBAL, use as never)).toBe('app')
    await target.stop()
  })

  test('an app that is added is sealed from its first moment on', async () => {
    const session = { user_id: ann.id, id: 'ses_00000000000000000001' }
    const offered = await offerAuthenticator(service.deps, session)
    const dump = async () => findIn(Buffer.from(JSON.stringify(await stored())), new Map([['offered', offered], ...secrets]))
    expect(await dump()).toEqual([])
    const { codes } = await addAuthenticator(service.deps, session, codeAt(offered, service.now))
    expect({ codes: codes?.length, dump: await dump() }).toEqual({ codes: 10, dump: [] })
  })
})

describe('the page of an authenticator app', () => {
  test('without a key says what the operator has to set, and stores nothing', async () => {
    const service = await Service.forSuite(undefined, { secretKeys: keysOf() })
    const ann = await service.person(await service.workspace())
    const visitor = await signedIn(service, ann)
    const page = await visitor.open('/settings/account/authenticator')
    expect({ status: page.status, shown: page.shown }).toEqual({
      status: 503,
      shown: expect.stringContaining('has to set LANEKEEPER_SECRET_KEY first'),
    })
    expect((await service.recordKeys(GLOBAL)).filter((key) => key.startsWith('second_factor:'))).toEqual([])
  })

  test('a code that cannot be checked is answered with what works instead, and the log says why', async () => {
    const captured = captureLog()
    const service = await Service.forSuite(undefined, { secretKeys: keysOf(second), log: captured.log })
    const ann = await service.person(await service.workspace())
    const email = await giveAccount(service, ann)
    await giveAuthenticator(Object.assign(Object.create(service), { deps: { ...service.deps, secretKeys: keysOf(first) } }), ann)
    const visitor = await signedInHalfway(service, email)
    const page = await visitor.submit({ code: codeAt(TOTP_SECRET, service.now) })
    expect({ status: page.status, shown: page.shown }).toEqual({
      status: 503,
      shown: expect.stringContaining('Use a recovery code or a passkey'),
    })
    expect(captured.lines.find(({ event }) => event === 'secrets.unusable')?.reason).toContain(keysOf(first).ids[0])
    expect(findIn(Buffer.from(captured.text()), new Map([...secrets, ['key', first], ['other key', second]]))).toEqual([])
    const again = await signedInHalfway(service, email)
    await again.submit({ code: RECOVERY_CODE })
    expect(await again.isSignedIn()).toBe(true)
  })
})

async function signedInHalfway(service: Service, email: string): Promise<Visitor> {
  const visitor = new Visitor(service)
  await visitor.signIn(email)
  return visitor
}
