import { z } from 'zod'
import { timestamp, idOf, hiddenTimes } from './fields.ts'
import { limits } from './limits.ts'
import { line, nameLine } from './text.ts'

/** The roles of a workspace (spec §2: "a workspace owner and an admin exist"). */
export const roles = ['owner', 'admin', 'member'] as const
export type Role = (typeof roles)[number]

export const workspaceName = nameLine(limits.workspaceName)
export const displayName = nameLine(limits.displayName)
/** The address of a picture. Clients load it, so no other scheme is accepted. */
export const avatarUrl = z.url({ protocol: /^https$/, error: 'must be an https:// URL' }).max(2000)

/** A workspace. */
export const workspace = z.strictObject({ id: idOf('workspace'), name: line(limits.workspaceName), ...hiddenTimes })
export type Workspace = Readonly<z.infer<typeof workspace>>

const profile = { display_name: line(limits.displayName), avatar_url: avatarUrl.nullable() }

/** A person. A user can be a member of several workspaces. */
export const user = z.strictObject({ id: idOf('user'), ...profile, ...hiddenTimes })
export type User = Readonly<z.infer<typeof user>>

/**
 * A user's membership of a workspace, with the profile that is shown there. The record remains when the membership
 * ends, with `ended_at` set. A user who comes back gets a new `id`: what belongs to the earlier membership has another one. Times do not
 * tell them apart, because clocks step back.
 */
export const membership = z.strictObject({
  /** Those that began under an earlier version have none, and neither has what belongs to them. */
  id: idOf('membership').optional(),
  user_id: idOf('user'),
  role: z.enum(roles),
  ...profile,
  joined_at: timestamp,
  ended_at: timestamp.nullable(),
  ...hiddenTimes,
})
export type Membership = Readonly<z.infer<typeof membership>>

/** Whether something belongs to a membership: it was made in it, and not in an earlier one of the same user. */
export function isOf({ id }: Pick<Membership, 'id'>, { membership_id }: { readonly membership_id?: string | undefined }): boolean {
  return membership_id === id
}

/** A record that belongs to a membership stores this. */
export function membershipOf({ id }: Pick<Membership, 'id'>): { readonly membership_id?: string } {
  return id === undefined ? {} : { membership_id: id }
}

/** Whether a membership exists and has not ended. */
export function isActive(membership: Membership | undefined): membership is Membership & { readonly ended_at: null } {
  return membership?.ended_at === null
}
