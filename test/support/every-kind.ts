import { sha256Hex } from '../../src/auth/secrets.ts'
import { systemRandom } from '../../src/model/ids.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import { SCHEMA_VERSION } from '../../src/store/migrations/list.ts'
import { transact } from '../../src/store/transact.ts'
import { keepAudit } from './audit-trail.ts'
import { TestBoard } from './board.ts'
import type { OpenDriver } from './drivers.ts'
import { TOTP_SECRET } from './second-factor.ts'
import type { Service } from './service.ts'

/** In each record that an export of a workspace must not have. */
export const SECRET = 'not-for-export'
const AT = '2026-11-20T11:00:00.000Z'

/** The kind of a record: the first word of its key. */
export const kindOf = (key: string): string => key.slice(0, key.indexOf(':'))
export type Records = readonly (readonly [key: string, value: unknown])[]

/** All records of a workspace and of the global partition. */
export async function recordsOf({ store, recordKeys }: Pick<OpenDriver, 'store' | 'recordKeys'>, workspaceId: string): Promise<Records> {
  const records: (readonly [string, unknown])[] = []
  for (const partition of [workspaceId, GLOBAL]) {
    const partitionKeys = (await recordKeys(partition)).toSorted()
    const values = await transact(store, partition, systemRandom, (tx) => tx.read(partitionKeys as Key<unknown>[]))
    records.push(...partitionKeys.map((key, i) => [key, values[i]] as const))
  }
  return records
}

/** Records as text, without the ids of bytes: an import gives them new ones. */
export function comparableRecords(records: Records): string[] {
  const isBlob = (text: unknown) => /^blb_[0-9a-z]{20}$/.test(String(text))
  return records.map(([key, value]) => `${key} ${JSON.stringify(value, (_name, member) => (isBlob(member) ? 'blob' : member))}`)
}

/** Creates a workspace with records of every kind. @returns its id */
export async function createWorkspaceWithEveryKind(service: Service): Promise<string> {
  const workspaceId = await service.workspace()
  const ann = await service.person(workspaceId, 'owner')
  const board = await TestBoard.create(service, ann)
  await board.add(await service.person(workspaceId))
  const columns = [await board.column(), await board.column()].toSorted()
  const card = await board.card(columns[0]!)
  await board.label()
  await board.send('POST', `/boards/${board.id}/labels`, { name: 'Label', color: '#000000' }, { 'idempotency-key': SECRET })
  await board.send('PATCH', `/cards/${card}`, { description: 'x'.repeat(2000) }, { 'idempotency-key': `${SECRET}-2` })
  const deletedLabel = await board.label()
  for (const id of [card, await board.card(columns[0]!)]) await board.put(`/cards/${id}/labels/${deletedLabel}`)
  await board.delete(`/labels/${deletedLabel}`)
  await board.card(columns[0]!, 'Blocked', { blocker_ids: [card] })
  for (const name of ['failure', 'question']) {
    const id = await board.card(columns[0]!, name)
    const { epoch } = (await board.put(`/cards/${id}/claim`, {})).body.data
    await board.send('POST', `/cards/${id}/claim/${name}`, name === 'failure' ? { reason: 'x' } : { question: 'x' }, {
      'if-claim': `${epoch}`,
    })
  }
  const url = `https://hooks.example/${SECRET}`
  const webhook = (await board.send('POST', `/boards/${board.id}/webhooks`, { url })).body.data.id
  await board.send('POST', `/webhooks/${webhook}/test`)
  await board.put(`/cards/${card}/claim`, {})
  await board.subtask(card)
  await board.comment(card)
  await board.attach(card)
  await board.delete(`/attachments/${(await board.attach(card)).body.data.id}`)
  // Two columns with the same position: the next one between them causes a rebalancing.
  await service.write(workspaceId, async (tx) => {
    const [first, second] = await tx.read(columns.map(keys.column))
    tx.put(keys.column(columns[1]!), { ...second!, position: first!.position })
    tx.create(keys.toldByTime(), { due: SECRET, tokens_early: null, tokens_late: null })
    await tx.create(keys.importing(), { id: SECRET, begun_at: SECRET })
    await tx.create(keys.importedBytes('blb_x'), { blob_id: SECRET })
  })
  await board.column('Between', { after: columns[0] })
  const recorder = keepAudit(service)
  await board.send('PATCH', `/boards/${board.id}`, { name: 'Renamed' })
  await recorder.flush()
  await service.write(workspaceId, async (tx) =>
    tx.create(keys.tokenRules(), { max_days: 30, admin: false, updated_at: AT, updated_by: ann.id }),
  )
  await service.write(GLOBAL, async (tx) => {
    const email = `${SECRET}@example.org`
    const account = { user_id: ann.id, email, password_hash: `$argon2id$${SECRET}`, devices: [], created_at: AT, updated_at: AT }
    await tx.create(keys.account(ann.id), account)
    await tx.create(keys.accountEmail(sha256Hex(email)), { user_id: ann.id })
    await tx.create(keys.signUp(ann.id), { user_id: ann.id, hash: SECRET, expires_at: SECRET })
    const named = { issuer: `https://${SECRET}.example`, subject: SECRET }
    const hash = sha256Hex(`${named.issuer}\n${named.subject}`)
    await tx.create(keys.identity(hash), { hash, user_id: ann.id, ...named, bound_at: AT })
    const session = { email: SECRET, begun_at: SECRET, seen_at: SECRET, proved_at: SECRET, form_token: SECRET, confirmations: [] }
    await tx.create(keys.session('5'), {
      hash: '5',
      id: 'ses_00000000000000000000',
      user_id: ann.id,
      agent: SECRET,
      address: SECRET,
      ...session,
    })
    const authenticator = { secret: TOTP_SECRET, added_at: AT, last_step: 1 }
    const passkey = { id: 'pky_00000000000000000000', name: SECRET, credential_id: 'x', public_key: 'x', counter: 0, transports: [SECRET] }
    const passkeys = [{ ...passkey, added_at: AT, used_at: null }]
    const pending = { secret: TOTP_SECRET, session_id: null, expires_at: AT }
    await tx.create(keys.secondFactor(ann.id), { user_id: ann.id, authenticator, pending, recovery_hashes: [sha256Hex(SECRET)], passkeys })
    const alert = {
      id: 'alr_00000000000000000000',
      kind: 'new_sign_in',
      at: AT,
      agent: SECRET,
      address: SECRET,
      session_id: null,
    } as const
    await tx.create(keys.alerts(ann.id), { user_id: ann.id, alerts: [{ ...alert, name: SECRET }] })
    const challenge = { purpose: 'prove', user_id: ann.id, bound_to: SECRET, credential: null, expires_at: SECRET } as const
    await tx.create(keys.challenge('6'), { hash: '6', ...challenge })
    await tx.create(keys.secretKey(), { key_id: '00000000', has_secrets: false, complete: false })
    await tx.create(keys.deliveryLease(), { holder: SECRET, beats: 1 })
    await tx.create(keys.demo(), { begun_at: AT, finished_at: null })
    await tx.create(keys.blobMount(), { id: SECRET })
    await tx.create(keys.restoring(), { id: SECRET, begun_at: SECRET })
    await tx.create(keys.restoredWorkspace(workspaceId), { workspace_id: SECRET })
    if ((await tx.get(keys.schema())) === undefined) tx.put(keys.schema(), { version: SCHEMA_VERSION })
  })
  await service.app.services.usage.settled()
  return workspaceId
}
