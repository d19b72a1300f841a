import type { Board, BoardMember } from '../model/board.ts'
import { effectiveScopes } from '../model/token.ts'
import type { Membership } from '../model/workspace.ts'
import type { Facts } from '../policy/evaluate.ts'
import type { Vocabulary } from '../policy/vocabulary.ts'
import type { Caller, FileAccess, Situation } from './situation.ts'

// Where no cover is set there is no file: its facts are then those that open nothing.
const NO_FILE: FileAccess = { owner_id: '', visibility: 'private' }

type Read = (caller: Caller, situation: Situation) => string

/**
 * How each fact of `policies/vocabulary.yaml` is read: an equality of ids, the membership of a set. Nothing is
 * decided here. The registry and the vocabulary are compared both ways at start.
 */
export const facts: Readonly<Record<string, Read>> = {
  'token.scope': ({ token }) => effectiveScopes(token.scopes).at(-1) ?? 'none',
  'caller.membership': ({ membership }) => membershipState(membership),
  'caller.role': ({ membership }) => membership.role,
  'board.visibility': (_caller, { board }) => need(board, 'board').visibility,
  'board.caller': ({ userId }, { board, boardMember }) => relation(need(board, 'board'), userId, boardMember),
  'comment.author': ({ userId }, { comment }) => self(need(comment, 'comment').author_id, userId),
  'file.visibility': (_caller, situation) => fileOf(situation).visibility,
  'file.owner': ({ userId }, situation) => self(fileOf(situation).owner_id, userId),
  'cover.state': (_caller, { cover }) => (need(cover, 'cover') === null ? 'none' : 'set'),
  'label.board': (_caller, { board, label }) => (need(label, 'label').board_id === need(board, 'board').id ? 'this' : 'other'),
  'user.membership': (_caller, { user }) => membershipState(need(user, 'user').membership),
  'user.board': (_caller, { board, user }) =>
    relation(need(board, 'board'), need(user, 'user').membership.user_id, need(user, 'user').boardMember),
}

/** The facts of one situation that a pair is decided on. */
export function factsFor(vocabulary: Vocabulary, groups: readonly string[], caller: Caller, situation: Situation): Facts {
  const stated: Record<string, string> = {}
  for (const group of groups) for (const { name } of vocabulary.groups.get(group)!) stated[name] = facts[name]!(caller, situation)
  return stated
}

/** What is wrong between the registry and the vocabulary; empty where they are equal. */
export function compareFacts(vocabulary: Vocabulary): readonly string[] {
  const unread = [...vocabulary.facts.keys()]
    .filter((name) => !Object.hasOwn(facts, name))
    .map((name) => `fact "${name}" of the vocabulary is read nowhere`)
  const unknown = Object.keys(facts)
    .filter((name) => !vocabulary.facts.has(name))
    .map((name) => `fact "${name}" is read, and is not in the vocabulary`)
  return [...unread, ...unknown]
}

function self(id: string, userId: string): string {
  return id === userId ? 'caller' : 'other'
}

function fileOf({ file, cover }: Situation): FileAccess {
  return cover === null ? NO_FILE : need(file ?? cover, 'file')
}

function membershipState({ ended_at }: Membership): string {
  return ended_at === null ? 'active' : 'ended'
}

function relation(board: Board, userId: string, entry: BoardMember | undefined): string {
  if (board.creator_id === userId) return 'creator'
  return entry === undefined ? 'none' : 'member'
}

function need<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new TypeError(`facts: this operation loaded no ${what}`)
  return record
}
