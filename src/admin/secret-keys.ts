import type { Logger } from 'pino'
import * as secondFactors from '../auth/accounts/second-factor.ts'
import { SecretKeyError, type SecretDeps, type SecretKeys } from '../auth/secret-keys.ts'
import { SEALED } from '../model/fields.ts'
import type { SecretKeyRecord } from '../model/schema.ts'
import * as webhooks from '../resources/webhooks/secrets.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import type { Transaction } from '../store/transaction.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import type { AdminDeps } from './deps.ts'

/** What works with the secrets of one kind of records. */
interface SecretKind {
  /** the secrets of a record, as they are stored */
  readonly secretsOf: (value: any) => readonly string[]
  /** @throws {SecretKeyError} if one cannot be opened */
  readonly checkSecrets: (secretKeys: SecretKeys, value: any) => void
  /** @throws {SecretKeyError} if one cannot be opened */
  readonly resealSecrets: (tx: Transaction, id: string, secretKeys: SecretKeys) => Promise<void>
}
/** The kinds of records with secrets, by the first word of their keys. */
const kinds: Readonly<Record<string, SecretKind>> = { second_factor: secondFactors, webhook: webhooks }

function kindOf(key: string): SecretKind | undefined {
  return kinds[key.slice(0, key.indexOf(':'))]
}

/** The partitions that may have secrets: accounts belong to no workspace, and webhooks to theirs. Each records its key. */
async function partitionsOf(deps: Pick<Deps, 'store' | 'random'>): Promise<string[]> {
  return [GLOBAL, ...(await listAll(deps, GLOBAL, indexes.webhookWorkspaces())).map(({ id }) => id)]
}

/** Whether a storage may have secrets that were sealed. */
export async function hasSecrets(deps: Pick<Deps, 'store' | 'random'>): Promise<boolean> {
  for (const partition of await partitionsOf(deps)) if ((await recordedKey(deps, partition))?.has_secrets === true) return true
  return false
}

function recordedKey({ store, random }: Pick<Deps, 'store' | 'random'>, partition: string): Promise<SecretKeyRecord | undefined> {
  return transact(store, partition, random, (tx) => tx.get(keys.secretKey()))
}

/**
 * Records the newest key as the storage's key, and seals with it every secret that is plain or sealed with another key. A process does
 * this when it starts. What it has done once is not looked for again.
 * @throws {SecretKeyError} if secrets were sealed with a key that is not there
 */
export async function adoptSecretKeys(deps: SecretDeps, log: Logger): Promise<void> {
  const unreadable: string[] = []
  for (const partition of await partitionsOf(deps)) unreadable.push(...(await adoptIn(deps, partition)))
  if (unreadable.length > 0)
    log.warn(
      { event: 'secrets.unreadable', records: unreadable.slice(0, 10), count: unreadable.length },
      'secrets cannot be opened; see "lanekeeper check"',
    )
}

/** @returns the keys of the records whose secrets cannot be opened */
async function adoptIn(deps: SecretDeps, partition: string): Promise<string[]> {
  const recorded = await transact(deps.store, partition, deps.random, async (tx) => {
    const present = await tx.get(keys.secretKey())
    if (present?.has_secrets === true) requireKey(deps.secretKeys, present.key_id)
    const [key_id] = deps.secretKeys.ids
    if (key_id === undefined || present?.key_id === key_id) return present
    const next: SecretKeyRecord = { key_id, has_secrets: present?.has_secrets === true, complete: false }
    tx.put(keys.secretKey(), next)
    return next
  })
  if (recorded === undefined || recorded.complete || deps.secretKeys.ids.length === 0) return []
  const unreadable = await resealAll(deps, partition, recorded.key_id)
  if (unreadable.length === 0) await complete(deps, partition, recorded.key_id)
  return unreadable
}

function requireKey(secretKeys: SecretKeys, id: string): void {
  try {
    secretKeys.require(id)
  } catch (error) {
    throw new SecretKeyError(`${(error as Error).message}; state that key too, or run "lanekeeper forget-key" if it is lost`)
  }
}

/** @returns the keys of the records whose secrets cannot be opened */
async function resealAll({ store, random, secretKeys }: SecretDeps, partition: string, keyId: string): Promise<string[]> {
  const unreadable: string[] = []
  for await (const batch of store.dump(partition))
    for (const [key, value] of batch) {
      const kind = kindOf(key)
      if (kind === undefined || kind.secretsOf(value).every((secret) => SEALED.exec(secret)?.[1] === keyId)) continue
      try {
        await transact(store, partition, random, (tx) => kind.resealSecrets(tx, key.slice(key.indexOf(':') + 1), secretKeys))
      } catch (error) {
        if (!(error instanceof SecretKeyError)) throw error
        unreadable.push(key)
      }
    }
  return unreadable
}

function complete({ store, random }: Deps, partition: string, keyId: string): Promise<void> {
  return transact(store, partition, random, async (tx) => {
    const present = await tx.get(keys.secretKey())
    // Another process may have recorded another key meanwhile.
    if (present?.key_id === keyId) tx.put(keys.secretKey(), { ...present, complete: true })
  })
}

/** Why a valid record has a secret that cannot be opened; undefined if it has none. */
export function unreadableSecret(secretKeys: SecretKeys | undefined, key: string, value: Value): string | undefined {
  const kind = kindOf(key)
  if (secretKeys === undefined || secretKeys.ids.length === 0 || kind === undefined) return undefined
  try {
    kind.checkSecrets(secretKeys, value)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Lets a storage be used with another key, after its key was lost. The secrets that were sealed with it stay as they are.
 * @returns the ids of the keys
 */
export async function forgetKey(deps: AdminDeps): Promise<{ forgotten: string[] }> {
  const forgotten = new Set<string>()
  for (const partition of await partitionsOf(deps))
    await transact(deps.store, partition, deps.random, async (tx) => {
      const present = await tx.get(keys.secretKey())
      if (present === undefined) return
      tx.remove(keys.secretKey())
      forgotten.add(present.key_id)
    })
  return { forgotten: [...forgotten] }
}
