import type { Account } from '../../model/account.ts'
import { durations, isCurrent } from '../../model/durations.ts'
import type { Identity } from '../../model/identity.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
import { memberOf } from '../../store/reads.ts'
import type { Transaction } from '../../store/transaction.ts'
import { findInvitedUser } from '../accounts/sign-up.ts'
import { sha256Hex } from '../secrets.ts'
import type { Claims } from './identity-provider.ts'

/** A person whom the provider has named. */
export interface Found {
  readonly account: Account
  /** whether the name was bound to them just now */
  readonly isNew: boolean
}

/** Why nobody gets in, and whom it concerns. It is for the log and the audit trail alone: the page does not say who exists. */
export interface Nobody {
  readonly reason: 'no_email' | 'email_not_verified' | 'nobody' | 'ambiguous' | 'bound_to_another'
  readonly userIds?: readonly string[]
}

/** The identity of a person; undefined: none is bound. */
export async function identityOf(tx: Transaction, userId: string): Promise<Identity | undefined> {
  return (await tx.all(indexes.identitiesOf(userId))).values[0]
}

/**
 * Unbinds a person: the next sign-in at the provider binds anew.
 * @returns whether an identity was bound
 */
export async function unbind(tx: Transaction, userId: string): Promise<boolean> {
  const bound = await identityOf(tx, userId)
  if (bound !== undefined) tx.remove(keys.identity(bound.hash))
  return bound !== undefined
}

/** The id of the user who is bound to an identity; undefined: nobody is. */
export async function boundUser(tx: Transaction, identity: Pick<Claims, 'issuer' | 'subject'>): Promise<string | undefined> {
  return (await tx.get(keys.identity(identityHash(identity))))?.user_id
}

/**
 * Finds the person of an identity: by issuer and subject, and the first time by a verified e-mail address, which binds them. Afterwards
 * the address does not matter (src/auth/identity-provider.md, "Who gets in").
 * @param code of the sign-up link whose page the person has come from, or ''
 */
export async function findPerson(tx: Transaction, claims: Claims, code: string, clock: Clock): Promise<Found | Nobody> {
  const userId = await boundUser(tx, claims)
  if (userId !== undefined) {
    const account = await tx.get(keys.account(userId))
    return account === undefined ? { reason: 'nobody', userIds: [userId] } : { account, isNew: false }
  }
  const { email } = claims
  if (email === undefined) return { reason: claims.hasEmail ? 'email_not_verified' : 'no_email' }
  const found = await findByEmail(tx, email, code, clock)
  if ('reason' in found) return found
  const account = { ...found, email_confirmed: true }
  return (await bind(tx, claims, found.user_id, clock))
    ? { account, isNew: true }
    : { reason: 'bound_to_another', userIds: [found.user_id] }
}

/**
 * Whether an identity belongs to the signed-in person. If they have none yet, it is bound to them, provided that the address is theirs and
 * nobody else is invited with it.
 * @returns undefined: it is somebody else's
 */
export async function recognize(tx: Transaction, claims: Claims, userId: string, clock: Clock): Promise<Pick<Found, 'isNew'> | undefined> {
  const bound = await boundUser(tx, claims)
  if (bound !== undefined) return bound === userId ? { isNew: false } : undefined
  const { email } = claims
  const account = await tx.get(keys.account(userId))
  if (email === undefined || email !== account?.email) return undefined
  const invited = await findInvited(tx, email, '', clock)
  if (invited.some((one) => one !== userId)) return undefined
  if (!(await bind(tx, claims, userId, clock))) return undefined
  tx.put(keys.account(userId), { ...account, email_confirmed: true })
  return { isNew: true }
}

/**
 * Binds a person who has no identity yet, to one that nobody has.
 * @returns whether they had none
 */
async function bind(tx: Transaction, claims: Claims, user_id: string, clock: Clock): Promise<boolean> {
  if ((await identityOf(tx, user_id)) !== undefined) return false
  const hash = identityHash(claims)
  const { issuer, subject } = claims
  tx.create(keys.identity(hash), { hash, user_id, issuer, subject, bound_at: timestamp(clock) })
  return true
}

/** The key of an identity. */
export function identityHash({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string {
  return sha256Hex(`${issuer}\n${subject}`)
}

/**
 * The account of an address, or the invited person's account, which is created now. An operator has stated the address of an invitation;
 * an account's address was typed by its person. So if both have it, nobody gets in.
 */
async function findByEmail(tx: Transaction, email: string, code: string, clock: Clock): Promise<Account | Nobody> {
  const emailKey = keys.accountEmail(sha256Hex(email))
  const [, present] = await tx.read([emailKey, keys.account(memberOf(emailKey, 'user_id'))])
  const invited = await findInvited(tx, email, code, clock)
  const others = new Set([...invited, ...(present === undefined ? [] : [present.user_id])])
  if (others.size > 1) return { reason: 'ambiguous', userIds: [...others] }
  if (present !== undefined) return present
  const [userId] = invited
  // A link for somebody with an account replaces a lost password: here it is not the way to another address.
  if (userId === undefined || (await tx.get(keys.account(userId))) !== undefined) return { reason: 'nobody' }
  const now = timestamp(clock)
  const account: Account = { user_id: userId, email, password_hash: null, devices: [], created_at: now, updated_at: now }
  tx.create(keys.account(userId), account)
  tx.put(emailKey, { user_id: userId })
  await tx.get(keys.signUp(userId))
  tx.remove(keys.signUp(userId))
  return account
}

/** Who is invited: those whose invitations name the address, and otherwise the person of the link. */
async function findInvited(tx: Transaction, email: string, code: string, clock: Clock): Promise<string[]> {
  const { values } = await tx.all(indexes.signUpsFor(sha256Hex(email)))
  const named = values.flatMap((one) => (one !== undefined && isCurrent(one.expires_at, durations.signUpLink, clock()) ? one.user_id : []))
  if (named.length > 0) return named
  const byLink = await findInvitedUser(tx, code, clock)
  return byLink === undefined || tx.known(keys.signUp(byLink))!.email !== undefined ? [] : [byLink]
}
