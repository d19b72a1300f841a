import type { AuditEntry } from '../../model/audit.ts'
import { idPrefixes, type IdKind } from '../../model/ids.ts'
import type { Named, Phrase } from '../phrases.ts'

/**
 * What operations do, as people say it: the verb first, without “to”. `{card}` stands for the card that an entry names; without its name,
 * it is “a card”.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  'account.read': 'read the account',
  'access.evaluate': 'ask for a decision',
  'access.evaluate_all': 'ask for decisions',
  'access.search_action': 'ask what is allowed',
  'access.search_resource': 'ask where something is allowed',
  'access.search_subject': 'ask who may do something',
  'members.list': 'list the members',
  'boards.list': 'list the boards',
  'boards.create': 'create {board}',
  'boards.read': 'open {board}',
  'boards.update': 'change {board}',
  'boards.set_visibility': 'change who has access to {board}',
  'boards.delete': 'delete {board}',
  'boards.assignable': 'list who can be assigned on {board}',
  'boards.changes': 'read the changes of {board}',
  'boards.events': 'follow the changes of {board}',
  'boards.batch': 'make several changes on {board}',
  'board_members.list': 'list the members of {board}',
  'board_members.add': 'add {user} to {board}',
  'board_members.remove': 'remove {user} from {board}',
  'columns.list': 'list the columns of {board}',
  'columns.read': 'read {column}',
  'columns.create': 'create {column} on {board}',
  'columns.rename': 'change {column}',
  'columns.move': 'move {column}',
  'columns.archive': 'archive {column}',
  'columns.restore': 'restore {column}',
  'cards.list': 'list the cards of {board}',
  'cards.search': 'search the cards',
  'cards.read': 'open {card}',
  'cards.create': 'create {card} on {board}',
  'cards.update': 'edit {card}',
  'cards.move': 'move {card}',
  'cards.complete': 'change the completion of {card}',
  'cards.archive': 'archive {card}',
  'cards.restore': 'restore {card}',
  'cards.delete': 'delete {card}',
  'cards.assign': 'assign {user} to {card}',
  'cards.unassign': 'remove {user} from the assignees of {card}',
  'cards.apply_label': 'add {label} to {card}',
  'cards.remove_label': 'remove {label} from {card}',
  'cards.set_cover': 'set the cover of {card}',
  'cards.clear_cover': 'remove the cover of {card}',
  'cards.answer': 'answer the question on {card}',
  'cards.retry': 'let {card} be tried again',
  'blockers.add': 'add a blocker to {card}',
  'blockers.remove': 'remove a blocker from {card}',
  'claims.take_next': 'claim the next card of {board}',
  'claims.take': 'claim {card}',
  'claims.release': 'release {card}',
  'claims.read': 'read the claim of {card}',
  'claims.fail': 'report a failure of {card}',
  'claims.ask': 'ask a question on {card}',
  'labels.list': 'list the labels of {board}',
  'labels.read': 'read {label}',
  'labels.create': 'create {label} on {board}',
  'labels.update': 'change {label}',
  'labels.delete': 'delete {label}',
  'subtasks.list': 'list the subtasks of {card}',
  'subtasks.read': 'read {subtask}',
  'subtasks.create': 'add {subtask} to {card}',
  'subtasks.update': 'change {subtask}',
  'subtasks.delete': 'delete {subtask}',
  'comments.list': 'read the comments on {card}',
  'comments.read': 'read {comment}',
  'comments.create': 'comment on {card}',
  'comments.update': 'edit {comment}',
  'comments.delete': 'delete {comment}',
  'attachments.list': 'list the attachments of {card}',
  'attachments.read': 'read {attachment}',
  'attachments.download': 'download {attachment}',
  'attachments.attach': 'attach {attachment} to {card}',
  'attachments.upload': 'attach {attachment} to {card}',
  'attachments.detach': 'remove {attachment}',
  'files.read': 'read {file}',
  'files.update': 'change who has access to {file}',
  'webhooks.list': 'list the webhooks of {board}',
  'webhooks.read': 'read {webhook}',
  'webhooks.create': 'create {webhook} on {board}',
  'webhooks.update': 'change {webhook}',
  'webhooks.delete': 'delete {webhook}',
  'webhooks.rotate_secret': 'replace the secret of {webhook}',
  'webhooks.test': 'test {webhook}',
  'webhooks.deliveries': 'list the deliveries of {webhook}',
  'notices.list': 'list the notices',
  'notices.mark': 'mark notices as read',

  authenticate: 'use a token that is not valid',
  'operator.token.create': 'create {token}',
  'web.tokens.create': 'create {token}',
  'web.tokens.rotate': 'rotate {token}',
  'web.tokens.revoke': 'revoke {token}',
  'web.workspace.revoke_token': 'revoke {token}',
  'web.workspace.token_rules': 'change the rules for tokens',
  'web.workspace.members': 'list the members of the workspace',
  'web.workspace.invite': 'invite {user}',
  'web.workspace.change_role': 'change the role of {user}',
  'web.workspace.end_membership': 'end the membership of {user}',
  'web.workspace.send_link': 'send a link to {user}',
  'web.account.revoke_tokens': 'revoke all tokens of the account',
  'web.sign_in': 'sign in',
  'web.sign_in.password': 'sign in with a password',
  'web.sign_in.passkey': 'sign in with a passkey',
  'web.sign_in.provider': 'sign in with the identity provider',
  'web.sign_in.second_factor': 'sign in with a code',
  'web.sign_up': 'accept an invitation',
  'web.sign_out': 'sign out',
  'web.account.prove': 'prove who is signed in',
  'web.account.bind_identity': 'connect the account with the identity provider',
}

/** Verbs whose past is not made with “ed”. */
const PAST: Readonly<Record<string, string>> = { read: 'read', set: 'set', make: 'made', let: 'let' }

function past(verb: string): string {
  if (PAST[verb] !== undefined) return PAST[verb]
  return verb.endsWith('e') ? `${verb}d` : verb.endsWith('y') ? `${verb.slice(0, -1)}ied` : `${verb}ed`
}

/** The words of an operation; undefined: it has none. A page of the web app is told of like the operation that it is about. */
export function wordsOf(operation: string): string | undefined {
  const id = Object.hasOwn(OPERATIONS, operation) ? operation : operation.replace(/^web\./, '')
  return Object.hasOwn(OPERATIONS, id) ? OPERATIONS[id] : undefined
}

/** The ids that the words of an entry name, by their kinds. */
export function namedIn({ operation, ids }: Pick<AuditEntry, 'operation' | 'ids'>): ReadonlyMap<string, string> {
  const kinds = [...(wordsOf(operation) ?? '').matchAll(/\{(\w+)\}/g)].map(([, kind]) => kind!)
  return new Map(
    kinds.flatMap((kind) =>
      ids
        .filter((id) => id.startsWith(`${idPrefixes[kind as IdKind]}_`))
        .slice(0, 1)
        .map((id) => [kind, id] as const),
    ),
  )
}

/**
 * Tells what an entry is about: “moved “Launch””, or “tried to move a card”.
 * @param nameOf the name of something as the reader may see it now; undefined: none
 * @returns undefined if the operation has no words
 */
export function tellEntry(
  entry: Pick<AuditEntry, 'operation' | 'ids' | 'outcome'>,
  nameOf: (id: string) => Named | undefined,
): Phrase | undefined {
  const words = wordsOf(entry.operation)
  if (words === undefined) return undefined
  const ids = namedIn(entry)
  const [verb = '', ...rest] = words.split(' ')
  const start = entry.outcome === 'done' ? past(verb) : entry.outcome === 'denied' ? `tried to ${verb}` : `may have ${past(verb)}`
  return [start, ' ', rest.join(' ')]
    .flatMap((text) => text.split(/(\{\w+\})/))
    .map((part): string | Named => {
      const kind = /^\{(\w+)\}$/.exec(part)?.[1]
      if (kind === undefined) return part
      const id = ids.get(kind)
      return (id === undefined ? undefined : nameOf(id)) ?? withArticle(kind, id)
    })
}

function withArticle(kind: string, id: string | undefined): string | Named {
  const name = kind === 'user' ? 'a person' : kind === 'attachment' ? 'a file' : `a ${kind}`
  return id === undefined ? name : { id, name }
}
