import type { ChangeRecord } from '../../model/change.ts'
import { listOf, quoted, type Named, type Phrase } from '../phrases.ts'

/** The names of what changes are about, as the person may see them. */
export interface Names {
  column(id: string): string | undefined
  label(id: string): string | undefined
  /** a card of the board, with its title if the person may read it */
  card(id: string): Named | undefined
  person(id: string): string
  /** of a subtask or an attachment that is there */
  titleOf(id: string): string | undefined
}

/** A change with what is known of its object. */
export interface KnownChange extends ChangeRecord {
  /** what the members in `from` became; without those that are not known: a later change is in another part of the feed */
  readonly to: Values
  /** of a deletion: the title or name of the object, as it was last */
  readonly title: string | undefined
}
type Values = Readonly<Record<string, unknown>>

/** A member that has changed. */
interface Member {
  readonly change: KnownChange
  /** undefined: not known */
  readonly from: unknown
  readonly to: unknown
  /** what is told of */
  readonly it: Phrase
  readonly names: Names
}
type Told = (member: Member) => readonly Phrase[]

const nameOfColumn = (id: string, { names }: Member): string | Named => {
  const name = names.column(id)
  return name === undefined ? 'another column' : quoted(id, name)
}

/** Tells of a list of ids: what was added to it, and removed from it. */
function lists(
  nameOf: (id: string, names: Names) => Phrase,
  added: (named: Phrase, it: Phrase) => Phrase,
  removed: (named: Phrase, it: Phrase) => Phrase,
  unknown: (it: Phrase) => Phrase,
): Told {
  return ({ from, to, it, names }) => {
    if (!Array.isArray(from) || !Array.isArray(to)) return [unknown(it)]
    const [old, now] = [from as string[], to as string[]]
    const named = (ids: readonly string[]): Phrase => listOf(ids.map((id) => nameOf(id, names))).flatMap((part) => part)
    const [more, less] = [now.filter((id) => !old.includes(id)), old.filter((id) => !now.includes(id))]
    return [...(more.length > 0 ? [added(named(more), it)] : []), ...(less.length > 0 ? [removed(named(less), it)] : [])]
  }
}

/** Tells of a time that is there or is not. */
function time(set: string, cleared: string): Told {
  return ({ from, it }) => [[from === null ? set : cleared, ' ', ...it]]
}

const nothing: Told = () => []
const words =
  (before: string): Told =>
  ({ it }) => [[before, ' ', ...it]]

const archived_at = time('archived', 'restored')
/** How the members of a resource are told of, by its kind. All others are called by their names. */
const MEMBERS: Readonly<Partial<Record<ChangeRecord['kind'], Readonly<Record<string, Told>>>>> = {
  card: {
    column_id: (member) => {
      const { from, to, it } = member
      const end: Phrase = typeof to === 'string' ? [' to ', nameOfColumn(to, member)] : []
      return [['moved ', ...it, ' from ', nameOfColumn(String(from), member), ...end]]
    },
    position: ({ change, it }) => (change.changed!.includes('column_id') ? [] : [['changed the place of ', ...it, ' in its column']]),
    title: words('renamed'),
    description: words('edited the description of'),
    due_at: ({ from, to, it }) => [[from === null ? 'set' : to === null ? 'removed' : 'changed', ' the due date of ', ...it]],
    completed_at: time('completed', 'reopened'),
    completed_by_id: nothing,
    outcome: ({ change, it }) => (change.changed!.includes('completed_at') ? [] : [['changed the outcome of ', ...it]]),
    external_ref: words('changed the external reference of'),
    archived_at,
    assignee_ids: lists(
      (id, { person }) => [{ id, name: person(id) }],
      (people, it) => ['assigned ', ...people, ' to ', ...it],
      (people, it) => ['removed ', ...people, ' from the assignees of ', ...it],
      (it) => ['changed the assignees of ', ...it],
    ),
    label_ids: lists(
      (id, { label }) => (label(id) === undefined ? ['a deleted label'] : ['the label ', quoted(id, label(id)!)]),
      (labels, it) => ['added ', ...labels, ' to ', ...it],
      (labels, it) => ['removed ', ...labels, ' from ', ...it],
      (it) => ['changed the labels of ', ...it],
    ),
    blocker_ids: lists(
      (id, { card }) => (card(id) === undefined ? ['a blocker'] : ['the blocker ', card(id)!]),
      (cards, it) => ['added ', ...cards, ' to ', ...it],
      (cards, it) => ['removed ', ...cards, ' from ', ...it],
      (it) => ['changed the blockers of ', ...it],
    ),
    cover_attachment_id: ({ change, from, it }) => {
      if (change.operation === 'cards.clear_cover') return [['removed the cover of ', ...it]]
      return [[from === null ? 'set' : 'changed', ' the cover of ', ...it]]
    },
  },
  column: { name: words('renamed'), position: words('moved'), archived_at },
  subtask: { title: words('renamed'), completed_at: time('completed', 'reopened'), position: words('moved') },
  label: { name: words('renamed'), color: words('changed the color of') },
  attachment: { visibility: words('changed who has access to') },
  comment: { body: words('edited') },
  board: { name: words('renamed'), visibility: words('changed who has access to') },
}

/** What a change of members did to an object, in words. */
export function tellUpdate(change: KnownChange, it: Phrase, names: Names): readonly Phrase[] {
  const { kind, changed, from, to } = change
  if (changed == null || changed.length === 0) return [['changed ', ...it]]
  const told = MEMBERS[kind] ?? {}
  return changed.flatMap((name) => {
    const member = { change, from: from?.[name], to: to[name], it, names }
    return told[name]?.(member) ?? [[`changed the ${name.replaceAll('_', ' ')} of `, ...it]]
  })
}
