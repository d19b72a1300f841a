import { randomUUID } from 'node:crypto'
import { addAlert } from '../auth/accounts/alerts.ts'
import { endToken, findToken, IssueRefused, issueToken } from '../auth/tokens/issue.ts'
import { stateOf, type TokenState } from '../auth/tokens/lifecycle.ts'
import { isId, newId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { DAY, timestamp } from '../model/time.ts'
import type { TokenRecord, TokenRules } from '../model/token.ts'
import { type Deps, listAll, transact } from '../store/transact.ts'
import { indexes } from '../store/indexes.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { AdminError, type AdminDeps, type CommandIo } from './deps.ts'
import { listMembers } from './memberships.ts'
import type { AuditBatch } from '../model/audit.ts'
import type { Transaction } from '../store/transaction.ts'
import { auditTombstone } from '../audit/recorder.ts'

/** A token as the operator sees it: without its hash. Times are RFC 3339. */
export interface TokenEntry {
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly state: TokenState
  readonly issued_at: string
  readonly expires_at: string
}

/** Lists the tokens of one user, or of all active members of a workspace; the tokens of each user oldest first. */
export async function listTokens(deps: Deps, workspaceId: string, userId?: string): Promise<TokenEntry[]> {
  const userIds = userId === undefined ? (await listMembers(deps, workspaceId)).map((member) => member.user_id) : [userId]
  const tokens = await Promise.all(userIds.map((id) => listAll(deps, workspaceId, indexes.tokensOf(id))))
  return tokens.flat().map((token) => toEntry(token, deps.clock()))
}

/**
 * Revokes a token. Its next request fails, on every process.
 * @throws {AdminError} `not_found`
 */
export async function revokeToken({ store, clock, random }: Deps, workspaceId: string, tokenId: string): Promise<TokenEntry> {
  return transact(store, workspaceId, random, async (tx) => {
    const token = isId('token', tokenId) ? await findToken(tx, tokenId) : undefined
    if (token === undefined) throw new AdminError('not_found', `there is no token ${tokenId} in ${workspaceId}`)
    return toEntry(endToken(tx, token, clock), clock())
  })
}

/** What an operator chooses for the token of a machine. */
export interface NewToken {
  readonly workspace: string
  readonly user: string
  readonly scope: (typeof operatorScopes)[keyof typeof operatorScopes]
  readonly name: string
  /** default: 30, or what the rules of the workspace allow if that is less */
  readonly days?: number | undefined
}

/**
 * The scopes that operators can issue, by the names that they give. One with `kanban:admin` is created by its person, who proves in the web
 * app who they are.
 */
export const operatorScopes = {
  read: 'kanban:read',
  write: 'kanban:write',
  'kanban:read': 'kanban:read',
  'kanban:write': 'kanban:write',
} as const

const DEFAULT_DAYS = 30

/**
 * Creates a token for a machine without a browser. The rules of the workspace hold as in the web app. The audit trail of the workspace has
 * it in the same commit, and the person gets an alert.
 * @returns the token with its plaintext, which is not stored
 * @throws {AdminError} `not_found`: no active member; `conflict`: the workspace allows only a shorter lifetime, or the person has too many
 * active tokens
 */
export async function createToken(
  deps: AdminDeps,
  { workspace, user, scope, name, days }: NewToken,
  { progress }: CommandIo,
): Promise<{ token: string } & Omit<TokenEntry, 'state'>> {
  const { store, clock, random } = deps
  const { plaintext, token } = await transact(store, workspace, random, async (tx) => {
    const rules = await tx.get(keys.tokenRules())
    const lifetime = (days ?? Math.min(DEFAULT_DAYS, rules?.max_days ?? DEFAULT_DAYS)) * DAY
    const issued = await issueToken(tx, { userId: user, name, scopes: [scope], lifetime }, deps).catch((error: unknown) => {
      throw error instanceof IssueRefused ? toAdminError(error, workspace, user, rules) : error
    })
    await recordOperation(tx, deps, { operation: 'operator.token.create', ids: [issued.token.id], subject: user })
    return issued
  })
  await notifyOf(deps, token).catch((error: Error) => progress(`the alert to ${user} was not stored: ${error.message}`))
  const { state: _state, ...entry } = toEntry(token, clock())
  return { token: plaintext, ...entry }
}

function toAdminError({ reason, message }: IssueRefused, workspace: string, user: string, rules: TokenRules | undefined): AdminError {
  if (reason === 'no_member') return new AdminError('not_found', `${user} is not an active member of ${workspace}`)
  if (reason === 'too_long') return new AdminError('conflict', `days: the rules of ${workspace} allow at most ${rules?.max_days}`)
  if (reason === 'too_many')
    return new AdminError(
      'conflict',
      `${user} has ${limits.tokensPerPerson} active tokens in ${workspace}, and cannot have more; revoke one`,
    )
  return new AdminError('conflict', message)
}

/** Adds an alert to the account of the token's user, and sends it by mail if this process sends mail. */
async function notifyOf(deps: AdminDeps, { user_id, name }: TokenRecord): Promise<void> {
  const members = { kind: 'token_created', agent: 'The operator', address: 'on the command line', session_id: null, name } as const
  const [account, alert] = await transact(deps.store, GLOBAL, deps.random, async (tx) => [
    await tx.get(keys.account(user_id)),
    await addAlert(tx, user_id, members, deps),
  ])
  if (account !== undefined) await deps.mailAlert?.(account, alert)
}

function toEntry(token: TokenRecord, now: number): TokenEntry {
  const { id, user_id, name, scopes, issued_at, expires_at } = token
  return { id, user_id, name, scopes, state: stateOf(token, now), issued_at, expires_at }
}

/** What an operator has done. */
interface Operation {
  /** begins with `operator.` */
  readonly operation: string
  readonly ids: readonly string[]
  /** whom it concerns */
  readonly subject: string
}

/** Adds what an operator does to the audit trail of the transaction's partition, in the commit that does it. */
async function recordOperation(tx: Transaction, { clock, random }: Deps, { operation, ids, subject }: Operation): Promise<void> {
  const at = timestamp(clock)
  const who = { user_id: null, token_id: null, token_name: null, address: null, agent: null, subject_id: subject }
  const entry = { at, ...who, operation, ids, rows: [], outcome: 'done', status: 200, code: null, request_id: randomUUID() } as const
  const batch: AuditBatch = { id: newId('audit', random), at, users: [subject], entries: [entry] }
  const tombstone = auditTombstone(clock())
  const [scheduled] = await tx.read([keys.tombstone(tombstone.id)])
  tx.create(keys.audit(batch.id), batch)
  if (scheduled === undefined) tx.put(keys.tombstone(tombstone.id), tombstone)
}
