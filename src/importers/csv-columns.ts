import { AdminError } from '../admin/deps.ts'

/** What a column of a CSV file can be, and the names that it is known by: the exports of Jira, Linear, Trello and Asana among them. The first name counts most. */
const NAMES = {
  title: ['title', 'summary', 'name', 'card name', 'task name', 'task', 'subject'],
  description: ['description', 'card description', 'body', 'notes', 'details'],
  column: ['column', 'status', 'list', 'list name', 'section/column', 'section', 'state', 'stage'],
  labels: ['labels', 'label', 'tags', 'tag'],
  assignees: ['assignees', 'assignee', 'assigned to', 'members', 'owner'],
  due: ['due', 'due date', 'due at', 'deadline'],
  completed: ['completed', 'completed at', 'resolved', 'closed at', 'due complete', 'done'],
  canceled: ['canceled', 'cancelled'],
  archived: ['archived', 'archived at'],
  ref: ['ref', 'external ref', 'issue key', 'key', 'identifier', 'card url', 'url', 'task id', 'id'],
  created: ['created', 'created at'],
  updated: ['updated', 'updated at', 'last modified'],
  creator: ['creator', 'reporter', 'author', 'created by'],
  comments: ['comments', 'comment'],
} as const
/** A column that the importer understands. */
export type CsvColumn = keyof typeof NAMES
/** Columns that a file can have several of. */
const REPEATED: ReadonlySet<CsvColumn> = new Set(['labels', 'assignees', 'comments'])
/** In place of a column, in `--map`. */
const IGNORE = 'ignore'

/** The columns of a file: where each one that the importer understands is, the names of the others, and where those without a name are. */
export interface CsvLayout {
  readonly places: ReadonlyMap<CsvColumn, readonly number[]>
  readonly others: readonly { readonly name: string; readonly at: number }[]
  readonly unnamed: readonly number[]
}

/**
 * Finds the columns of a file by their names.
 * @param header the first row
 * @param pairs of the name of a column and what it is, which count more than the names
 * @throws {AdminError} `invalid` if a pair names something that does not exist, or if there is no column of titles
 */
export function layoutOf(header: readonly string[], pairs: readonly string[]): CsvLayout {
  const names = header.map(fold)
  const places = new Map<CsvColumn, number[]>()
  const taken = new Set<number>()
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=')
    const [theirs, ours] = [
      pair.slice(0, Math.max(at, 0)),
      pair
        .slice(at + 1)
        .trim()
        .toLowerCase(),
    ]
    if (ours !== IGNORE && !isColumn(ours))
      throw new AdminError(
        'invalid',
        `--map: "${pair}" is not of the form THEIRS=OURS, where OURS is ${Object.keys(NAMES).join(', ')} or ${IGNORE}`,
      )
    const found = names.flatMap((name, i) => (name === fold(theirs) ? i : []))
    if (found.length === 0) throw new AdminError('invalid', `--map: the file has no column "${theirs}"; it has ${listOf(header)}`)
    // Of several columns that are the same, each but the first is one of the others.
    const used = ours === IGNORE || REPEATED.has(ours) ? found : places.has(ours) ? [] : found.slice(0, 1)
    for (const i of used) taken.add(i)
    if (ours !== IGNORE && used.length > 0) places.set(ours, [...(places.get(ours) ?? []), ...used])
  }
  for (const [column, known] of Object.entries(NAMES) as [CsvColumn, readonly string[]][]) {
    if (places.has(column)) continue
    const found = known.flatMap((name) => names.flatMap((other, i) => (other === name && !taken.has(i) ? i : [])))
    const used = REPEATED.has(column) ? found : found.slice(0, 1)
    for (const i of used) taken.add(i)
    if (used.length > 0) places.set(column, used)
  }
  if (!places.has('title'))
    throw new AdminError('invalid', `the file has no column of titles; it has ${listOf(header)}; name one with --map THEIRS=title`)
  const others = header.flatMap((name, at) => (taken.has(at) || name.trim() === '' ? [] : { name: name.trim(), at }))
  const unnamed = header.flatMap((name, at) => (taken.has(at) || name.trim() !== '' ? [] : at))
  return { places, others, unnamed }
}

function isColumn(name: string): name is CsvColumn {
  return Object.hasOwn(NAMES, name)
}

/** Names are equal without regard to case, spaces around them, and what separates words. */
function fold(name: string): string {
  return name
    .normalize('NFC')
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
}

function listOf(header: readonly string[]): string {
  const named = [...new Set(header)].filter((name) => name.trim() !== '')
  return (
    named
      .slice(0, 20)
      .map((name) => JSON.stringify(name.slice(0, 50)))
      .join(', ') + (named.length > 20 ? ', …' : '')
  )
}
