import { removeAlerts } from '../auth/accounts/alerts.ts'
import { removeSecondFactor, secondFactorOf } from '../auth/accounts/second-factor.ts'
import { endSessions } from '../auth/accounts/sessions.ts'
import { invite, removeAccount } from '../auth/accounts/sign-up.ts'
import { identityOf, unbind } from '../auth/provider/identities.ts'
import { isId, newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { displayName, type User } from '../model/workspace.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { AdminError } from './deps.ts'
import { endMembership } from './memberships.ts'

/** The profile of a new user. */
export interface NewUser {
  readonly display_name: string
  readonly avatar_url?: string | null
}

/**
 * Adds a user, who is not a member of any workspace yet.
 * @throws {z.ZodError} if the name is invalid
 */
export async function addUser({ store, clock, random }: Deps, { display_name, avatar_url = null }: NewUser): Promise<User> {
  const now = timestamp(clock)
  const user: User = {
    id: newId('user', random),
    display_name: displayName.parse(display_name),
    avatar_url,
    created_at: now,
    updated_at: now,
  }
  await transact(store, GLOBAL, random, async (tx) => tx.create(keys.user(user.id), user))
  return user
}

/**
 * Adds a user and makes a sign-up link for them.
 * @param url the URL of the service, which begins the link
 * @throws {z.ZodError} if the name is invalid
 */
export async function addUserWithLink(deps: Deps, newUser: NewUser, url: string, email?: string): Promise<User & SignUpLink> {
  const user = await addUser(deps, newUser)
  return { ...user, ...(await inviteUser(deps, user.id, url, email)) }
}

/** A one-time link where a user chooses an e-mail address and a password, or replaces a lost password. */
export interface SignUpLink {
  readonly sign_up_link: string
  /** RFC 3339 */
  readonly link_expires_at: string
}

/**
 * Makes a sign-up link. It invalidates any earlier link of the user.
 * @param url the URL of the service, which begins the link
 * @param email the address that the form suggests
 * @throws {AdminError} `not_found`
 */
export async function inviteUser(deps: Deps, userId: string, url: string, email?: string): Promise<SignUpLink> {
  await requireUser(deps, userId)
  const { code, expires_at } = await invite(deps, userId, email)
  return { sign_up_link: `${url}/settings/sign-up?code=${code}`, link_expires_at: expires_at }
}

/**
 * Ends all web app sessions of a user.
 * @throws {AdminError} `not_found`
 */
export async function signOutUser(deps: Deps, userId: string): Promise<{ user_id: string; signed_out: true }> {
  await requireUser(deps, userId)
  await transact(deps.store, GLOBAL, deps.random, (tx) => endSessions(tx, userId))
  return { user_id: userId, signed_out: true }
}

/**
 * Removes the authenticator app, the recovery codes and the passkeys of a user who lost them, and ends their sessions. They sign in
 * with their password alone until they add new ones.
 * @returns whether there was a second factor
 * @throws {AdminError} `not_found`
 */
export async function resetSecondFactor(deps: Deps, userId: string): Promise<{ user_id: string; second_factor_removed: boolean }> {
  await requireUser(deps, userId)
  const removed = await transact(deps.store, GLOBAL, deps.random, async (tx) => {
    await endSessions(tx, userId)
    return removeSecondFactor(tx, userId)
  })
  return { user_id: userId, second_factor_removed: removed }
}

/**
 * Disables a user: ends their sessions, removes their e-mail address, password, second factor and sign-up link, and ends their memberships,
 * which revokes their tokens for good. If this is interrupted, repeat it. To let them back in, invite them again and add them
 * to workspaces.
 * @returns the workspaces whose memberships have ended
 * @throws {AdminError} `not_found`
 */
export async function disableUser(deps: Deps, userId: string): Promise<{ user_id: string; disabled: true; workspaces: string[] }> {
  await requireUser(deps, userId)
  const { store, random } = deps
  await transact(store, GLOBAL, random, async (tx) => {
    await endSessions(tx, userId)
    await removeAccount(tx, userId)
    await removeSecondFactor(tx, userId)
    await unbind(tx, userId)
    await removeAlerts(tx, userId)
  })
  const workspaces: string[] = []
  for (const { workspace_id } of await listAll(deps, GLOBAL, indexes.workspacesOf(userId)))
    if (await endMembership(deps, workspace_id, userId)) workspaces.push(workspace_id)
  return { user_id: userId, disabled: true, workspaces }
}

/** How a user signs in. */
export interface SignInWays {
  readonly user_id: string
  readonly display_name: string
  readonly email: string | null
  readonly password: boolean
  readonly authenticator: boolean
  readonly passkeys: number
  /** at the identity provider; null: they have not signed in with it */
  readonly identity: { readonly issuer: string; readonly subject: string; readonly bound_at: string } | null
  /** until when a sign-up link works (RFC 3339) */
  readonly invited_until: string | null
}

/**
 * Shows how a user signs in.
 * @throws {AdminError} `not_found`
 */
export async function showUser(deps: Deps, userId: string): Promise<SignInWays> {
  const { display_name } = await requireUser(deps, userId)
  const { store, clock, random } = deps
  return transact(store, GLOBAL, random, async (tx) => {
    const [account, link] = await tx.read([keys.account(userId), keys.signUp(userId)])
    const { authenticator, passkeys } = await secondFactorOf(tx, userId)
    const { issuer, subject, bound_at } = (await identityOf(tx, userId)) ?? {}
    return {
      user_id: userId,
      display_name,
      email: account?.email ?? null,
      password: account !== undefined && account.password_hash !== null,
      authenticator: authenticator !== null,
      passkeys: passkeys.length,
      identity: issuer === undefined ? null : { issuer, subject: subject!, bound_at: bound_at! },
      invited_until: link !== undefined && clock() < Date.parse(link.expires_at) ? link.expires_at : null,
    }
  })
}

/**
 * Unbinds a user from their identity at the provider, and ends their sessions. The next identity with their e-mail address is bound to
 * them.
 * @throws {AdminError} `not_found`
 */
export async function unbindUser(deps: Deps, userId: string): Promise<{ user_id: string; unbound: boolean }> {
  await requireUser(deps, userId)
  const unbound = await transact(deps.store, GLOBAL, deps.random, async (tx) => {
    await endSessions(tx, userId)
    return unbind(tx, userId)
  })
  return { user_id: userId, unbound }
}

/** Lists the users of all workspaces, oldest first. */
export function listUsers(deps: Deps): Promise<User[]> {
  return listAll(deps, GLOBAL, indexes.users())
}

/** @throws {AdminError} `not_found` */
export async function requireUser({ store, random }: Deps, id: string): Promise<User> {
  const user = isId('user', id) ? await transact(store, GLOBAL, random, (tx) => tx.get(keys.user(id))) : undefined
  if (user === undefined) throw new AdminError('not_found', `there is no user ${id}`)
  return user
}
