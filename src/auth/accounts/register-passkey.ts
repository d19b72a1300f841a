import type { Session } from '../../model/account.ts'
import { newId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Passkey } from '../../model/second-factor.ts'
import { timestamp } from '../../model/time.ts'
import { type Deps, transact } from '../../store/transact.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { takeChallenge } from './challenges.ts'
import { verifyAttestation, type Attestation, type RelyingParty } from './passkeys.ts'
import { putSecondFactor, secondFactorOf } from './second-factor.ts'

/**
 * Stores a new passkey of a person who is signed in. Its challenge is used up, even if the passkey is refused.
 * @returns undefined if the passkey is refused, or if the person has ten
 */
export async function registerPasskey(
  { store, clock, random }: Deps,
  { party, session, attestation, name }: { party: RelyingParty; session: Session; attestation: Attestation; name: string },
): Promise<Passkey | undefined> {
  const userId = session.user_id
  return transact(store, GLOBAL, random, async (tx) => {
    const request = { secret: attestation.challenge, purpose: 'register', formToken: session.form_token } as const
    const challenge = await takeChallenge(tx, request, clock)
    const factor = await secondFactorOf(tx, userId)
    if (challenge?.user_id !== userId || factor.passkeys.length >= limits.passkeysPerPerson) return undefined
    const verified = await verifyAttestation(party, attestation)
    if (verified === undefined || factor.passkeys.some(({ credential_id }) => credential_id === verified.credential_id)) return undefined
    const passkey: Passkey = { id: newId('passkey', random), name, ...verified, added_at: timestamp(clock), used_at: null }
    tx.put(keys.secondFactor(userId), { ...factor, passkeys: [...factor.passkeys, passkey] })
    return passkey
  })
}

/** Renames a passkey of a person. @returns false if they have no such passkey */
export async function renamePasskey(tx: Transaction, userId: string, passkeyId: string, name: string): Promise<boolean> {
  const factor = await secondFactorOf(tx, userId)
  if (!factor.passkeys.some(({ id }) => id === passkeyId)) return false
  putSecondFactor(tx, { ...factor, passkeys: factor.passkeys.map((one) => (one.id === passkeyId ? { ...one, name } : one)) })
  return true
}

/** Removes a passkey of a person. @returns the passkey, if they had it */
export async function removePasskey(tx: Transaction, userId: string, passkeyId: string): Promise<Passkey | undefined> {
  const factor = await secondFactorOf(tx, userId)
  const passkey = factor.passkeys.find(({ id }) => id === passkeyId)
  if (passkey !== undefined) putSecondFactor(tx, { ...factor, passkeys: factor.passkeys.filter((one) => one !== passkey) })
  return passkey
}
