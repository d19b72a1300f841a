/** Something that only the web app does, for a person who is signed in. Its permission has no scope, so no token can do it. */
export interface WebAction {
  readonly id: string
  readonly needs: readonly [action: string, subject: string]
  /** the row of the permission table that decides it */
  readonly row: string
}

/** What owners and admins do in the web app. At start it is compared with the policy, like the operations table. */
export const webActions = [
  { id: 'workspace.audit', needs: ['read', 'AuditTrail'], row: 'X6' },
  { id: 'workspace.tokens', needs: ['read', 'MemberToken'], row: 'X7' },
  { id: 'workspace.revoke_token', needs: ['revoke', 'MemberToken'], row: 'X7' },
  { id: 'workspace.token_rules', needs: ['change', 'TokenRules'], row: 'X8' },
] as const satisfies readonly WebAction[]

export type WebActionId = (typeof webActions)[number]['id']
