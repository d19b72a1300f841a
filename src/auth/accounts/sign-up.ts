import type { Account } from '../../model/account.ts'
import { durations } from '../../model/durations.ts'
import { idPrefixes, isId } from '../../model/ids.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import type { Deps } from '../../store/deps.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { equalInConstantTime, newSecret, sha256Hex } from '../secrets.ts'
import { endSessions } from './sessions.ts'

/** Why a sign-up was refused. */
export type SignUpRefusal = 'no_link' | 'email_taken'

/**
 * Creates the one-time code with which a person sets their e-mail address and password, for the first time or because
 * they lost them. An earlier code of the same person becomes invalid.
 * @param email the address that the form suggests
 * @returns the code, which is not stored, and when it expires (RFC 3339)
 */
export async function invite(
  { store, clock, random }: Deps,
  userId: string,
  email?: string,
): Promise<{ code: string; expires_at: string }> {
  const code = `${userId.slice(idPrefixes.user.length + 1)}.${newSecret(random)}`
  const expires_at = timestamp(() => clock() + durations.signUpLink)
  await transact(store, GLOBAL, random, async (tx) => {
    await tx.get(keys.signUp(userId))
    tx.put(keys.signUp(userId), { user_id: userId, hash: sha256Hex(code), expires_at, ...(email !== undefined && { email }) })
  })
  return { code, expires_at }
}

/** Returns the id of the person that a code was created for; undefined if the code is not valid. */
export async function findInvitedUser(tx: Transaction, code: string, clock: Clock): Promise<string | undefined> {
  const userId = `${idPrefixes.user}_${code.slice(0, code.indexOf('.'))}`
  const signUp = isId('user', userId) ? await tx.get(keys.signUp(userId)) : undefined
  if (signUp === undefined || !equalInConstantTime(signUp.hash, sha256Hex(code))) return undefined
  return clock() < Date.parse(signUp.expires_at) ? userId : undefined
}

/**
 * Uses a code: sets the person's e-mail address and password, and ends all sessions that began with the old ones.
 * @returns the person's id, or why the sign-up was refused; a refused sign-up does not use up the code
 */
export async function signUp(
  { store, clock, random }: Deps,
  { code, ...credentials }: { readonly code: string; readonly email: string; readonly passwordHash: string; readonly device?: string },
): Promise<{ userId: string } | { refused: SignUpRefusal }> {
  return transact(store, GLOBAL, random, async (tx) => {
    const userId = await findInvitedUser(tx, code, clock)
    if (userId === undefined) return { refused: 'no_link' }
    if (!(await setAccount(tx, { userId, ...credentials }, clock))) return { refused: 'email_taken' }
    tx.remove(keys.signUp(userId))
    await endSessions(tx, userId)
    return { userId }
  })
}

/**
 * Sets a person's e-mail address and password, and replaces their known devices.
 * @param device the device cookie of the browser that does it: that browser is throttled separately from strangers
 * @returns false if the address belongs to another person
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
  const emailKey = keys.accountEmail(sha256Hex(email))
  const [account, owner] = await tx.read([keys.account(userId), emailKey])
  if (owner !== undefined && owner.user_id !== userId) return false
  if (account !== undefined && account.email !== email) {
    const oldEmailKey = keys.accountEmail(sha256Hex(account.email))
    await tx.get(oldEmailKey)
    tx.remove(oldEmailKey)
  }
  const now = timestamp(clock)
  const updated: Account = {
    user_id: userId,
    email,
    password_hash: passwordHash,
    devices: device === undefined ? [] : [sha256Hex(device)],
    created_at: account?.created_at ?? now,
    updated_at: now,
  }
  tx.put(keys.account(userId), updated)
  tx.put(emailKey, { user_id: userId })
  return true
}

/** Removes a person's e-mail address and password, and their sign-up link. */
export async function removeAccount(tx: Transaction, userId: string): Promise<void> {
  const [account, link] = await tx.read([keys.account(userId), keys.signUp(userId)])
  if (link !== undefined) tx.remove(keys.signUp(userId))
  if (account === undefined) return
  const emailKey = keys.accountEmail(sha256Hex(account.email))
  await tx.get(emailKey)
  tx.remove(emailKey)
  tx.remove(keys.account(userId))
}
