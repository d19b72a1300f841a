import { webOperation } from '../policy/operations.ts'

/**
 * What owners and admins do in the web app. No token can do it: its permissions have no scope. At start it is compared with the policy,
 * like the operations table.
 */
export const webActions = [
  webOperation('workspace.audit', 'read AuditTrail', 'X6'),
  webOperation('workspace.tokens', 'read MemberToken', 'X7'),
  webOperation('workspace.revoke_token', 'revoke MemberToken', 'X7'),
  webOperation('workspace.token_rules', 'change TokenRules', 'X8'),
  webOperation('workspace.members', 'read Membership', 'X14'),
  webOperation('workspace.invite', 'invite Membership', 'X14'),
  webOperation('workspace.change_role', 'change_role Membership', 'X14'),
  webOperation('workspace.end_membership', 'end Membership', 'X14'),
  webOperation('workspace.send_link', 'send_link Membership', 'X14'),
] as const

export type WebActionId = (typeof webActions)[number]['id']
