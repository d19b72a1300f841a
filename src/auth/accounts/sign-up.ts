import type { Account } from '../../model/account.ts'
import { durations, isCurrent } from '../../model/durations.ts'
import { idPrefixes, isId } from '../../model/ids.ts'
import type { Alert } from '../../model/second-factor.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import { type Deps, transact } from '../../store/transact.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { equalInConstantTime, newSecret, sha256Hex } from '../secrets.ts'
import { enterByPassword, type PasswordEntry, type Visit } from './entry.ts'
import { addAlert } from './alerts.ts'
import { endSessions } from './sessions.ts'

/** Why a sign-up was refused. */
export type SignUpRefusal = 'no_link' | 'email_taken'

/**
 * Creates the one-time code that lets a person set their e-mail address and password, for the first time or because
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
  return isCurrent(signUp.expires_at, durations.signUpLink, clock()) ? userId : undefined
}

/** What a sign-up needs: the code of a link, what the person has chosen, and the browser. */
export interface SignUp extends Visit {
  readonly code: string
  readonly email: string
  readonly passwordHash: string
  /** the page's: a second-factor code must come from the same browser */
  readonly formToken: string
}

/** A person has set their e-mail address and password, and is signed in unless a second factor is asked for. */
export type SignedUp = PasswordEntry & {
  /** if they had an account before: that, and the alert that the password was changed */
  readonly replaced: { readonly account: Account; readonly alert: Alert } | undefined
}

/**
 * Uses a code: sets the person's e-mail address and password, ends all sessions that began with the old ones, and signs them in under the
 * rules of every sign-in. Only this one of the known browsers remains.
 * @returns why the sign-up was refused, otherwise what follows; a refused sign-up does not use up the code
 */
export async function signUp(deps: Deps, { code, email, passwordHash, ...visit }: SignUp): Promise<SignedUp | { refused: SignUpRefusal }> {
  const { store, clock, random } = deps
  return transact(store, GLOBAL, random, async (tx) => {
    const userId = await findInvitedUser(tx, code, clock)
    if (userId === undefined) return { refused: 'no_link' }
    const before = await tx.get(keys.account(userId))
    const isInvited = tx.known(keys.signUp(userId))!.email === email
    const isConfirmed = isInvited || (before?.email === email && before.email_confirmed !== false)
    if (!(await setAccount(tx, { userId, email, passwordHash, isConfirmed }, clock))) return { refused: 'email_taken' }
    tx.remove(keys.signUp(userId))
    await endSessions(tx, userId)
    const account = tx.known(keys.account(userId))!
    // With the browsers that were known before, so that a browser which was not among them is reported.
    const entry = await enterByPassword(tx, { ...account, password_hash: passwordHash, devices: before?.devices ?? [] }, visit, deps)
    const devices = entry.result === 'signed_in' ? [sha256Hex(entry.device)] : []
    tx.put(keys.account(userId), { ...account, devices })
    if (before === undefined) return { ...entry, replaced: undefined }
    const session_id = entry.result === 'signed_in' ? entry.session.id : null
    const members = { kind: 'password_changed', agent: visit.agent, address: visit.network, session_id, name: null } as const
    return { ...entry, replaced: { account: before, alert: await addAlert(tx, userId, members, deps) } }
  })
}

/**
 * Sets a person's e-mail address and password. No browser is known then.
 * @param account `isConfirmed`: whether somebody else has said that the address is theirs
 * @returns false if the address belongs to another person
 */
export async function setAccount(
  tx: Transaction,
  {
    userId,
    email,
    passwordHash,
    isConfirmed = true,
  }: { readonly userId: string; readonly email: string; readonly passwordHash: string; readonly isConfirmed?: boolean },
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
    email_confirmed: isConfirmed,
    password_hash: passwordHash,
    devices: [],
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
