import type { Account } from '../../model/account.ts'
import type { Identity } from '../../model/identity.ts'
import { timestamp, type Clock } from '../../model/time.ts'
import { indexes } from '../../store/indexes.ts'
import { keys } from '../../store/keys.ts'
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

/** Why nobody gets in. It is for the log alone: the page does not say who exists. */
export type Unknown = 'email_not_verified' | 'nobody' | 'ambiguous' | 'bound_to_another'

/** The identity of a person; undefined: none is bound. */
export async function identityOf(tx: Transaction, userId: string): Promise<Identity | undefined> {
  return (await tx.all(indexes.identitiesOf(userId))).values[0]
}

/** Unbinds a person: the next sign-in at the provider binds anew. @returns whether an identity was bound */
export async function unbind(tx: Transaction, userId: string): Promise<boolean> {
  const bound = await identityOf(tx, userId)
  if (bound !== undefined) tx.remove(keys.identity(bound.hash))
  return bound !== undefined
}

/**
 * Finds the person of an identity: by issuer and subject, and the first time by a verified e-mail address, which binds them (api: Contract 4, number
 * 12). Afterwards the address does not matter.
 * @param code of a sign-up link that the browser has, or ''
 */
export async function findPerson(tx: Transaction, claims: Claims, code: string, clock: Clock): Promise<Found | Unknown> {
  const hash = sha256Hex(`${claims.issuer}\n${claims.subject}`)
  const bound = await tx.get(keys.identity(hash))
  if (bound !== undefined) {
    const account = await tx.get(keys.account(bound.user_id))
    return account === undefined ? 'nobody' : { account, isNew: false }
  }
  const { email, issuer, subject } = claims
  if (email === undefined) return 'email_not_verified'
  const found = await findByEmail(tx, email, code, clock)
  if (typeof found === 'string') return found
  const { user_id } = found
  if ((await identityOf(tx, user_id)) !== undefined) return 'bound_to_another'
  tx.create(keys.identity(hash), { hash, user_id, issuer, subject, bound_at: timestamp(clock) })
  return { account: found, isNew: true }
}

/** The account of an address, or that of the invited person, which is made then. */
async function findByEmail(tx: Transaction, email: string, code: string, clock: Clock): Promise<Account | Unknown> {
  const emailKey = keys.accountEmail(sha256Hex(email))
  const [, present] = await tx.read([emailKey, keys.account('{0.user_id}')])
  if (present !== undefined) return present
  const invited = await findInvited(tx, email, code, clock)
  if (invited === undefined || invited === 'ambiguous') return invited ?? 'nobody'
  // A link for somebody with an account replaces a lost password: here it is not the way to another address.
  if ((await tx.get(keys.account(invited))) !== undefined) return 'nobody'
  const now = timestamp(clock)
  const account: Account = { user_id: invited, email, password_hash: null, devices: [], created_at: now, updated_at: now }
  tx.create(keys.account(invited), account)
  tx.put(emailKey, { user_id: invited })
  await tx.get(keys.signUp(invited))
  tx.remove(keys.signUp(invited))
  return account
}

/** Who is invited: the person of the link that the browser has, or the only one whose invitation names the address. */
async function findInvited(tx: Transaction, email: string, code: string, clock: Clock): Promise<string | 'ambiguous' | undefined> {
  const byLink = await findInvitedUser(tx, code, clock)
  if (byLink !== undefined) {
    const { email: named = email } = tx.known(keys.signUp(byLink))!
    return named === email ? byLink : undefined
  }
  const { values } = await tx.all(indexes.signUpsFor(sha256Hex(email)))
  const open = values.filter((one) => one !== undefined && clock() < Date.parse(one.expires_at))
  return open.length > 1 ? 'ambiguous' : open[0]?.user_id
}
