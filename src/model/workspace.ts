import { z } from 'zod'
import { limits } from './limits.ts'
import { nameLine } from './text.ts'

/** The roles of a workspace (spec §2: "a workspace owner and an admin exist"). */
export const roles = ['owner', 'admin', 'member'] as const
export type Role = (typeof roles)[number]

/** A workspace. */
export interface Workspace {
  readonly id: string
  readonly name: string
  readonly created_at: string
  readonly updated_at: string
}

/** A person. A user can be a member of several workspaces. */
export interface User {
  readonly id: string
  readonly display_name: string
  readonly avatar_url: string | null
  readonly created_at: string
  readonly updated_at: string
}

/**
 * A user's membership of a workspace, with the profile that is shown there. The record remains when the membership
 * ends, with `ended_at` set. A user who comes back gets a new `joined_at`.
 */
export interface Membership {
  readonly user_id: string
  readonly role: Role
  readonly display_name: string
  readonly avatar_url: string | null
  readonly joined_at: string
  readonly ended_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** Whether a membership exists and has not ended. */
export function isActive(membership: Membership | undefined): membership is Membership & { readonly ended_at: null } {
  return membership?.ended_at === null
}

export const workspaceName = nameLine(limits.workspaceName)
export const displayName = nameLine(limits.displayName)
/** The address of a picture. Clients load it, so no other scheme is accepted. */
export const avatarUrl = z.url({ protocol: /^https$/, error: 'must be an https:// URL' }).max(2000)
