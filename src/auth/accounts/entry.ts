import type { Account, Session } from '../../model/account.ts'
import type { Alert } from '../../model/second-factor.ts'
import type { Deps } from '../../store/transact.ts'
import { keys } from '../../store/keys.ts'
import type { Transaction } from '../../store/transaction.ts'
import { newSecret, sha256Hex } from '../secrets.ts'
import { createChallenge } from './challenges.ts'
import { addAlert } from './alerts.ts'
import { secondFactorOf } from './second-factor.ts'
import { beginSession, endSession } from './sessions.ts'

/** The browser that a person signs in with. */
export interface Visit {
  /** the network of the client's address: attempts from one network are throttled together */
  readonly network: string
  /** the browser in a few words */
  readonly agent: string
  /** the browser's device cookie, set when a person last signed in with it */
  readonly device: string | undefined
  /** the hash of the browser's current session, which ends when the new one begins */
  readonly currentSession: string | undefined
}

/** A person has signed in. */
export interface Entry {
  readonly result: 'signed_in'
  readonly userId: string
  /** whom an alert is mailed to */
  readonly account: Account
  readonly secret: string
  readonly session: Session
  readonly device: string
  /** undefined: the browser had signed in to this account before, or it is the first one */
  readonly alert: Alert | undefined
}

/** A person has proved their password. `second_factor`: the challenge must be answered by a code. */
export type PasswordEntry = Entry | { readonly result: 'second_factor'; readonly userId: string; readonly challenge: string }

/** Maximum number of known browsers per account. When it is exceeded, the one that signed in longest ago is forgotten. */
const MAX_DEVICES = 10

/** Whether a browser has signed in to an account before. */
export function isKnownDevice(account: Pick<Account, 'devices'> | undefined, device: string | undefined): device is string {
  return device !== undefined && account?.devices.includes(sha256Hex(device)) === true
}

/** Begins a session for a person who has proved their identity. The account must have been read in this transaction. */
export async function enter(
  tx: Transaction,
  account: Account,
  { network: address, agent, device: cookie, currentSession }: Visit,
  deps: Deps,
  more: Pick<Session, 'way'> & Partial<Pick<Session, 'proved_at'>> = {},
): Promise<Entry> {
  const { user_id: userId, email } = account
  const isKnown = isKnownDevice(account, cookie)
  const device = isKnown ? cookie : newSecret(deps.random)
  const deviceHash = sha256Hex(device)
  const devices = [deviceHash, ...account.devices.filter((hash) => hash !== deviceHash)].slice(0, MAX_DEVICES)
  tx.put(keys.account(userId), { ...account, devices })
  if (currentSession !== undefined) await endSession(tx, currentSession)
  const { secret, session } = await beginSession(tx, { user_id: userId, email, agent, address, ...more }, deps)
  const members = { kind: 'new_sign_in', agent, address, session_id: session.id, name: null } as const
  const alert = isKnown || account.devices.length === 0 ? undefined : await addAlert(tx, userId, members, deps)
  return { result: 'signed_in', userId, account, secret, session, device, alert }
}

/**
 * Begins a session for a person whose password is right or was just chosen, unless they have an authenticator app: then a code must follow.
 * The account must have been read in this transaction.
 * @param formToken the page's: the code must come from the same browser
 */
export async function enterByPassword(
  tx: Transaction,
  account: Account & { readonly password_hash: string },
  { formToken, ...visit }: Visit & { readonly formToken: string },
  deps: Deps,
): Promise<PasswordEntry> {
  const { user_id, password_hash } = account
  if ((await secondFactorOf(tx, user_id)).authenticator === null) return enter(tx, account, visit, deps)
  const members = { purpose: 'second_factor', user_id, credential: sha256Hex(password_hash), formToken } as const
  return { result: 'second_factor', userId: user_id, challenge: await createChallenge(tx, members, deps) }
}
