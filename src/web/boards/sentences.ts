import type { ShownChange } from './board-update.ts'

/** What a change did, where that is not said by its action alone. */
const VERBS: Readonly<Record<string, string>> = {
  'comment created': 'commented on',
  'comment updated': 'edited a comment on',
  'comment deleted': 'deleted a comment on',
  'subtask created': 'added the subtask',
  'attachment created': 'attached',
  'attachment deleted': 'removed the attachment',
  'board_member created': 'added a member of the board',
  'board_member updated': 'changed a member of the board',
  'board_member deleted': 'removed a member of the board',
}
const ACTIONS = {
  created: 'created',
  updated: 'changed',
  deleted: 'deleted',
  claimed: 'claimed',
  released: 'released',
  failed: 'failed at',
  stuck: 'got stuck with',
  asked: 'asked about',
  answered: 'answered a question on',
  retried: 'retried',
}

const quoted = (title: string | null | undefined) => (title == null ? undefined : `“${title}”`)

/** What the page knows about a change. */
interface Known {
  /** the title of the card that the change is on */
  readonly cardTitle: string | undefined
  readonly isMoved: boolean
}

/** What a change did to an object, whose name follows. */
export function verbOf({ kind, action }: Pick<ShownChange, 'kind' | 'action'>, isMoved = false): string {
  if (kind === 'card') return isMoved ? 'moved' : ACTIONS[action]
  return VERBS[`${kind} ${action}`] ?? `${ACTIONS[action]} the ${kind}`
}

/** Without its name, “the label” is “a label”. */
function indefinite(verb: string): string {
  return verb.replace(/ the (?!board)([aeiou]?)/, (_all, vowel: string) => (vowel === '' ? ' a ' : ` an ${vowel}`))
}

/** A change as a sentence: who did what to an object. */
export function sentenceOf(change: ShownChange, { cardTitle, isMoved }: Known): string {
  const { kind, action, title, by } = change
  const verb = verbOf(change, isMoved)
  const start = `${by} ${title === null ? indefinite(verb) : verb}`
  if (kind === 'card' || kind === 'comment') return `${start} ${quoted(title ?? cardTitle) ?? 'a card'}`
  const what = title === null ? start : `${start} ${quoted(title)}`
  const isOnCard = kind === 'subtask' || kind === 'attachment'
  return isOnCard && cardTitle !== undefined ? `${what} ${action === 'created' ? 'to' : 'of'} ${quoted(cardTitle)}` : what
}

/** What a change did, without a name. */
export function doneBy(change: Pick<ShownChange, 'kind' | 'action'>, isMoved = false): string {
  return indefinite(verbOf(change, isMoved)).replace(/ (?:on|at|with|about)$/, '')
}
