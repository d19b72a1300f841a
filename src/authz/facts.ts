import { visibilities, type BoardMember } from '../model/board.ts'
import { fileVisibilities } from '../model/file.ts'
import { effectiveScopes, scopes, type TokenRecord } from '../model/token.ts'
import { isActive, roles, type Membership } from '../model/workspace.ts'
import type { Facts } from '../policy/evaluate.ts'
import type { Vocabulary } from '../policy/vocabulary.ts'
import { tokenOf, type AuthorizationContext, type BoardAccess, type Caller, type TokenCaller } from './context.ts'

const MEMBERSHIP = ['active', 'ended'] as const
const RELATION = ['creator', 'member', 'none'] as const
const SELF = ['caller', 'other'] as const
const WHO = ['none', 'caller', 'other'] as const
const HOME = ['workspace', 'private_member', 'private_other', 'deleted'] as const

interface FactReader {
  /** all values that it can have */
  readonly values: readonly string[]
  read(caller: Caller, context: AuthorizationContext): string
}

function fact<const Value extends string>(
  values: readonly Value[],
  read: (caller: Caller, context: AuthorizationContext) => Value,
): FactReader {
  return { values, read }
}

/**
 * How each fact of `policies/vocabulary.yaml` is read from records: an equality of ids or the membership of a set.
 * Nothing is decided here. At start the registry and the vocabulary are compared both ways, values included.
 */
const facts: Readonly<Record<string, FactReader>> = {
  'token.scope': fact(['none', ...scopes], (caller) => effectiveScopes(tokenOf(caller).scopes).at(-1) ?? 'none'),
  'caller.membership': fact(MEMBERSHIP, ({ membership }) => membershipState(membership)),
  'caller.role': fact(roles, ({ membership }) => membership.role),
  'board.visibility': fact(visibilities, (_caller, context) => need(context, 'board').visibility),
  'board.caller': fact(RELATION, ({ userId }, context) => relation(need(context, 'board'), userId, context.boardMember)),
  'claim.holder': fact(WHO, ({ token }, context) => {
    const claim = need(context, 'claim')
    if (claim === null) return 'none'
    return claim.token_id === token?.id ? 'caller' : 'other'
  }),
  'card.worker': fact(WHO, ({ userId }, context) => {
    const last = need(context, 'lastClaim')
    return last === null ? 'none' : self(last.holder_id, userId)
  }),
  'comment.author': fact(SELF, ({ userId }, context) => self(need(context, 'comment').author_id, userId)),
  'question.author': fact(WHO, ({ userId }, context) => {
    const question = need(context, 'question')
    return question === null ? 'none' : self(question.author_id, userId)
  }),
  'webhook.creator': fact(SELF, ({ userId }, context) => self(need(context, 'webhook').creator_id, userId)),
  'file.visibility': fact(fileVisibilities, (_caller, context) => need(context, 'file').visibility),
  'file.owner': fact(SELF, ({ userId }, context) => self(need(context, 'file').owner_id, userId)),
  'home.board': fact(HOME, ({ userId }, context) => {
    const { board, boardMember } = need(context, 'home')
    if (board === undefined) return 'deleted'
    if (board.visibility === 'workspace') return 'workspace'
    return relation(board, userId, boardMember) === 'none' ? 'private_other' : 'private_member'
  }),
  'cover.state': fact(['set', 'none'], (_caller, context) => (need(context, 'cover') === null ? 'none' : 'set')),
  'member.role': fact(roles, (_caller, context) => need(context, 'member').role),
  'given.role': fact(roles, (_caller, context) => need(context, 'given').role),
  'label.board': fact(['this', 'other'], (_caller, context) =>
    need(context, 'label').board_id === need(context, 'board').id ? 'this' : 'other',
  ),
  'user.membership': fact(MEMBERSHIP, (_caller, context) => membershipState(need(context, 'user').membership)),
  'user.board': fact(RELATION, (_caller, context) => {
    const { membership, boardMember } = need(context, 'user')
    return relation(need(context, 'board'), membership.user_id, boardMember)
  }),
}

/** A fact, and how it is read. */
export type NamedReader = Pick<FactReader, 'read'> & { readonly name: string }

/** The readers of the facts that belong to these groups. */
export function readersOf(vocabulary: Vocabulary, groups: readonly string[]): readonly NamedReader[] {
  return groups.flatMap((group) => vocabulary.groups.get(group)!.map(({ name }) => ({ name, read: facts[name]!.read })))
}

/** The facts of a context that belong to these groups. */
export function factsFor(vocabulary: Vocabulary, groups: readonly string[], caller: Caller, context: AuthorizationContext): Facts {
  const stated: Record<string, string> = {}
  for (const { name, read } of readersOf(vocabulary, groups)) stated[name] = read(caller, context)
  return stated
}

/** Whether a context has the record that the facts of a group are read from. The caller's facts are always there. */
export function isLoaded(group: string, context: AuthorizationContext): boolean {
  return group === 'caller' || context[group as keyof AuthorizationContext] !== undefined
}

/** The facts of a token: they are read from it alone. */
export function scopeFacts(vocabulary: Vocabulary, token: Pick<TokenRecord, 'scopes'>): Facts {
  return factsFor(vocabulary, [vocabulary.scopeOrder.group], { token } as TokenCaller, {})
}

/** Whether a request with these facts is authenticated at all: the token of a former member is not. */
export function isAuthenticated(facts: Facts): boolean {
  return facts['caller.membership'] !== MEMBERSHIP[1]
}

/** The differences between the registry and the vocabulary; empty if they are equal. */
export function compareFacts(vocabulary: Vocabulary): readonly string[] {
  const unread = [...vocabulary.facts.keys()]
    .filter((name) => !Object.hasOwn(facts, name))
    .map((name) => `fact "${name}" of the vocabulary has no reader`)
  const unknown = Object.keys(facts)
    .filter((name) => !vocabulary.facts.has(name))
    .map((name) => `fact "${name}" has a reader and is not in the vocabulary`)
  const differing = [...vocabulary.facts.values()]
    .filter(({ name, values }) => Object.hasOwn(facts, name) && facts[name]!.values.join() !== values.join())
    .map(({ name, values }) => `fact "${name}" has the values ${values.join(', ')}; its reader has ${facts[name]!.values.join(', ')}`)
  return [...unread, ...unknown, ...differing]
}

function self(id: string, userId: string): (typeof SELF)[number] {
  return id === userId ? 'caller' : 'other'
}

function membershipState(membership: Membership): (typeof MEMBERSHIP)[number] {
  return isActive(membership) ? 'active' : 'ended'
}

function relation(board: BoardAccess, userId: string, entry: BoardMember | undefined): (typeof RELATION)[number] {
  if (board.creator_id === userId) return 'creator'
  return entry === undefined ? 'none' : 'member'
}

function need<Name extends keyof AuthorizationContext>(context: AuthorizationContext, name: Name) {
  const record = context[name]
  if (record === undefined) throw new TypeError(`facts: the operation loaded no ${name}`)
  return record
}

/** The definitions that code asks for by itself, for lists and cascades, with the groups of facts that it states. */
const askedDefinitions: Readonly<Record<string, readonly string[]>> = {
  'board.access': ['caller', 'board'],
  'home.access': ['caller', 'home'],
  'user.belongs': ['board', 'user'],
}

/** What a vocabulary lacks that the code itself asks for. */
export function compareDefinitions({ definitions }: Vocabulary): string[] {
  return Object.entries(askedDefinitions).flatMap(([name, groups]) => {
    const definition = definitions.get(name)
    if (definition === undefined) return [`the vocabulary has no definition ${name}, which the service asks for`]
    const unknown = definition.groups.filter((group) => !groups.includes(group))
    return unknown.map((group) => `the definition ${name} depends on ${group}, which the service does not state when it asks for it`)
  })
}

/** The groups of facts about the claim of a card. They cost a read, so only a policy that uses them has them. */
const CLAIM_GROUPS: ReadonlySet<string> = new Set(['claim', 'card'])

/** Whether a permission depends on who holds a card, or has held it. */
export function dependsOnClaim({ permissions }: Vocabulary, permission: string): boolean {
  return permissions.get(permission)!.groups.some((group) => CLAIM_GROUPS.has(group))
}
