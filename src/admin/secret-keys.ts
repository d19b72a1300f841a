import type { Logger } from 'pino'
import { checkSecrets, resealSecrets, secretsOf } from '../auth/accounts/second-factor.ts'
import { SecretKeyError, type SecretDeps, type SecretKeys } from '../auth/secret-keys.ts'
import { SEALED } from '../model/fields.ts'
import type { SecretKeyRecord } from '../model/schema.ts'
import type { SecondFactor } from '../model/second-factor.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { type Deps, transact } from '../store/transact.ts'
import type { AdminDeps } from './deps.ts'

/** Whether a storage may have secrets that were sealed. */
export async function hasSecrets({ store, random }: Pick<Deps, 'store' | 'random'>): Promise<boolean> {
  return (await transact(store, GLOBAL, random, (tx) => tx.get(keys.secretKey())))?.has_secrets === true
}

/**
 * Records the newest key as that of the storage, and seals with it every secret that is plain or sealed with another key. A process does
 * this when it starts. What it has done once is not looked for again.
 * @throws {SecretKeyError} if secrets were sealed with a key that is not there
 */
export async function adoptSecretKeys(deps: SecretDeps, log: Logger): Promise<void> {
  const recorded = await transact(deps.store, GLOBAL, deps.random, async (tx) => {
    const present = await tx.get(keys.secretKey())
    if (present?.has_secrets === true) requireKey(deps.secretKeys, present.key_id)
    const [key_id] = deps.secretKeys.ids
    if (key_id === undefined || present?.key_id === key_id) return present
    const next: SecretKeyRecord = { key_id, has_secrets: present?.has_secrets === true, complete: false }
    tx.put(keys.secretKey(), next)
    return next
  })
  if (recorded === undefined || recorded.complete || deps.secretKeys.ids.length === 0) return
  const unreadable = await resealAll(deps, recorded.key_id)
  if (unreadable.length > 0)
    log.warn(
      { event: 'secrets.unreadable', records: unreadable.slice(0, 10), count: unreadable.length },
      'secrets cannot be opened; see "lanekeeper check"',
    )
  else await complete(deps, recorded.key_id)
}

function requireKey(secretKeys: SecretKeys, id: string): void {
  try {
    secretKeys.require(id)
  } catch (error) {
    throw new SecretKeyError(`${(error as Error).message}; state that key too, or run "lanekeeper forget-key" if it is lost`)
  }
}

/** @returns the keys of the records whose secrets cannot be opened */
async function resealAll({ store, random, secretKeys }: SecretDeps, keyId: string): Promise<string[]> {
  const unreadable: string[] = []
  for await (const batch of store.dump(GLOBAL))
    for (const [key, value] of batch) {
      if (!isSecondFactor(key) || secretsOf(value as SecondFactor).every((secret) => SEALED.exec(secret)?.[1] === keyId)) continue
      try {
        await transact(store, GLOBAL, random, (tx) => resealSecrets(tx, String(value['user_id']), secretKeys))
      } catch (error) {
        if (!(error instanceof SecretKeyError)) throw error
        unreadable.push(key)
      }
    }
  return unreadable
}

const isSecondFactor = (key: string): boolean => key.startsWith('second_factor:')

function complete({ store, random }: Deps, keyId: string): Promise<void> {
  return transact(store, GLOBAL, random, async (tx) => {
    const present = await tx.get(keys.secretKey())
    // Another process may have recorded another key meanwhile.
    if (present?.key_id === keyId) tx.put(keys.secretKey(), { ...present, complete: true })
  })
}

/** Why a valid record has a secret that cannot be opened; undefined if it has none. */
export function unreadableSecret(secretKeys: SecretKeys | undefined, key: string, value: Value): string | undefined {
  if (secretKeys === undefined || secretKeys.ids.length === 0 || !isSecondFactor(key)) return undefined
  try {
    checkSecrets(secretKeys, value as unknown as SecondFactor)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Lets a storage be used with another key, after its key was lost. The secrets that were sealed with it stay as they are.
 * @returns the id of the key
 */
export function forgetKey({ store, random }: AdminDeps): Promise<{ forgotten: string | null }> {
  return transact(store, GLOBAL, random, async (tx) => {
    const present = await tx.get(keys.secretKey())
    tx.remove(keys.secretKey())
    return { forgotten: present?.key_id ?? null }
  })
}
