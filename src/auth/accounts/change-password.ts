import type { Session } from '../../model/account.ts'
import { timestamp } from '../../model/time.ts'
import { type Deps, transact } from '../../store/transact.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { newSecret, sha256Hex } from '../secrets.ts'
import { endSessions, renewSession, type NewSession } from './sessions.ts'

/** A new password of a person who has just proved that they know the present one. */
export interface PasswordChange {
  readonly session: Session
  readonly passwordHash: string
}

/**
 * Replaces a person's password, ends their other sessions and renews this one. Of their known browsers only this one remains, and
 * sign-up links that were not used become invalid: the old password and old links are worth nothing any more.
 * @returns the renewed session with a new device cookie; undefined if the session or the account no longer exists
 */
export async function changePassword(
  deps: Deps,
  { session, passwordHash }: PasswordChange,
): Promise<(NewSession & { readonly device: string }) | undefined> {
  const { store, clock, random } = deps
  const device = newSecret(random)
  return transact(store, GLOBAL, random, async (tx) => {
    const userId = session.user_id
    const [stored, account, link] = await tx.read([keys.session(session.hash), keys.account(userId), keys.signUp(userId)])
    if (stored === undefined || account === undefined) return undefined
    tx.put(keys.account(userId), { ...account, password_hash: passwordHash, devices: [sha256Hex(device)], updated_at: timestamp(clock) })
    if (link !== undefined) tx.remove(keys.signUp(userId))
    await endSessions(tx, userId, ({ hash }) => hash !== stored.hash)
    // The provider says who the person of its session is: a password is no proof there.
    const provedAt = stored.way === 'provider' ? Date.parse(stored.proved_at) : undefined
    return { ...(await renewSession(tx, stored, deps, provedAt)), device }
  })
}
