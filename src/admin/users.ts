import { endSessions } from '../auth/accounts/sessions.ts'
import { invite } from '../auth/accounts/sign-up.ts'
import { isId, newId } from '../model/ids.ts'
import { timestamp } from '../model/time.ts'
import { displayName, type User } from '../model/workspace.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { listAll } from '../store/list-all.ts'
import { byAge } from './by-age.ts'
import { AdminError, type Deps } from './deps.ts'

/** What is said of a person who is added. */
export interface NewUser {
  readonly display_name: string
  readonly avatar_url?: string | null
}

/**
 * Adds a person, who belongs to no workspace yet.
 * @throws {z.ZodError} where the name is none
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
  await transact(store, GLOBAL, random, (tx) => tx.create(keys.user(user.id), user))
  return user
}

/** Adds a person, with the link by which that person gets a password. */
export async function welcomeUser(tools: Deps, user: NewUser, origin: string): Promise<User & SignUpLink> {
  const added = await addUser(tools, user)
  return { ...added, ...(await inviteUser(tools, added.id, origin)) }
}

/** A one-time link by which a person signs up or, where the password is lost, sets another one. */
export interface SignUpLink {
  readonly sign_up_link: string
  readonly link_expires_at: string
}

/**
 * Makes a sign-up link. One that was made before is worth nothing afterwards.
 * @throws {AdminError} `not_found`
 */
export async function inviteUser(tools: Deps, userId: string, origin: string): Promise<SignUpLink> {
  await requireUser(tools, userId)
  const { code, expires_at } = await invite(tools, userId)
  return { sign_up_link: `${origin}/settings/sign-up?code=${code}`, link_expires_at: expires_at }
}

/**
 * Ends all sessions of a person in the web app.
 * @throws {AdminError} `not_found`
 */
export async function signOutUser(tools: Deps, userId: string): Promise<{ user_id: string; signed_out: true }> {
  await requireUser(tools, userId)
  await transact(tools.store, GLOBAL, tools.random, (tx) => endSessions(tx, userId))
  return { user_id: userId, signed_out: true }
}

/** All people, whatever their workspaces, oldest first. */
export async function listUsers(tools: Deps): Promise<User[]> {
  return byAge(await listAll(tools, GLOBAL, indexes.users()))
}

/** @throws {AdminError} `not_found` */
export async function requireUser({ store, random }: Deps, id: string): Promise<User> {
  const user = isId('user', id) ? await transact(store, GLOBAL, random, (tx) => tx.get(keys.user(id))) : undefined
  if (user === undefined) throw new AdminError('not_found', `there is no user ${id}`)
  return user
}
