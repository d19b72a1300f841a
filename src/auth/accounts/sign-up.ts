import type { Account } from '../../model/account.ts'
import { DAY, timestamp, type Clock } from '../../model/time.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { idPrefixes, isId } from '../../model/ids.ts'
import type { AccountDeps } from './deps.ts'
import { hashOf, newSecret, equalInConstantTime } from './secrets.ts'
import { endSessions } from './sessions.ts'

/** A sign-up link is good for so long, in milliseconds. */
export const SIGN_UP_WITHIN = 7 * DAY

/** Why a sign-up did not come about. */
export type SignUpRefusal = 'no_link' | 'email_taken'

/**
 * Makes the one-time code with which a person sets an e-mail address and a password: the first one or, where
 * they were forgotten, new ones. A code that was made before is worth nothing afterwards.
 * @returns the code, which is nowhere afterwards
 */
export async function invite({ store, clock, random }: AccountDeps, userId: string): Promise<{ code: string; expires_at: string }> {
  const code = `${userId.slice(idPrefixes.user.length + 1)}.${newSecret(random)}`
  const expires_at = timestamp(() => clock() + SIGN_UP_WITHIN)
  await transact(store, GLOBAL, random, async (tx) => {
    await tx.get(keys.signUp(userId))
    tx.put(keys.signUp(userId), { user_id: userId, hash: hashOf(code), expires_at })
  })
  return { code, expires_at }
}

/** Whose a code is, as long as it is good. */
export async function invited(tx: Transaction, code: string, clock: Clock): Promise<string | undefined> {
  const userId = `${idPrefixes.user}_${code.slice(0, code.indexOf('.'))}`
  const signUp = isId('user', userId) ? await tx.get(keys.signUp(userId)) : undefined
  if (signUp === undefined || !equalInConstantTime(signUp.hash, hashOf(code))) return undefined
  return clock() < Date.parse(signUp.expires_at) ? userId : undefined
}

/**
 * Uses a code: sets what a person signs in with, and ends all sessions that began with what was before.
 * @returns the person's id, or why not; the code is used up only where it came about
 */
export async function signUp(
  { store, clock, random }: AccountDeps,
  { code, ...chosen }: { readonly code: string; readonly email: string; readonly passwordHash: string; readonly device?: string },
): Promise<{ userId: string } | { refused: SignUpRefusal }> {
  return transact(store, GLOBAL, random, async (tx) => {
    const userId = await invited(tx, code, clock)
    if (userId === undefined) return { refused: 'no_link' }
    if (!(await setAccount(tx, { userId, ...chosen }, clock))) return { refused: 'email_taken' }
    tx.remove(keys.signUp(userId))
    await endSessions(tx, userId)
    return { userId }
  })
}

/**
 * Sets what a person signs in with.
 * @param device what the browser keeps in which that was done: so strangers who guess cannot keep its person out
 * @returns false where the address is another person's
 */
export async function setAccount(
  tx: Transaction,
  {
    userId,
    email,
    passwordHash,
    device,
  }: { readonly userId: string; readonly email: string; readonly passwordHash: string; readonly device?: string | undefined },
  clock: Clock,
): Promise<boolean> {
  const address = keys.accountEmail(hashOf(email))
  const [account, owner] = await tx.read([keys.account(userId), address])
  if (owner !== undefined && owner.user_id !== userId) return false
  if (account !== undefined && account.email !== email) {
    const before = keys.accountEmail(hashOf(account.email))
    await tx.get(before)
    tx.remove(before)
  }
  const now = timestamp(clock)
  const changed: Account = {
    user_id: userId,
    email,
    password_hash: passwordHash,
    devices: device === undefined ? [] : [hashOf(device)],
    created_at: account?.created_at ?? now,
    updated_at: now,
  }
  tx.put(keys.account(userId), changed)
  tx.put(address, { user_id: userId })
  return true
}
