import type { BoardLine } from '../../src/admin/board-lines.ts'

type Members = Record<string, any>

/** What the lines of an import create, with names in place of the numbers of operations. A member that has its default is left out. */
export function plannedBoard(lines: readonly BoardLine[]): Members {
  const made: Members[] = []
  const board: Members = { labels: [], columns: [] }
  const at = (text: string): Members => made[Number(text.slice(1))]!
  const perform: Record<string, (params: Members, body: Members) => Members> = {
    'labels.create': (_params, { name, color }) => (board['labels'].push([name, color]), { name }),
    'columns.create': (_params, body) => add(board['columns'], { ...body, cards: [] }),
    'columns.rename': ({ column_id }, body) => Object.assign(at(column_id), body),
    'columns.archive': ({ column_id }) => Object.assign(at(column_id), { archived: true }),
    'cards.create': (_params, { column_id, label_ids, ...body }) =>
      add(at(column_id)['cards'], { ...body, labels: label_ids.map((id: string) => at(id)['name']) }),
    'cards.update': ({ card_id }, body) => Object.assign(at(card_id), body),
    'cards.complete': ({ card_id }, body) => Object.assign(at(card_id), body),
    'cards.archive': ({ card_id }) => Object.assign(at(card_id), { archived: true }),
    'subtasks.create': ({ card_id }, { title, completed }) => add((at(card_id)['subtasks'] ??= []), [title, completed] as any),
    'comments.create': ({ card_id }, { body }) => add((at(card_id)['comments'] ??= []), body),
    'attachments.upload': ({ card_id }, { name }) => add((at(card_id)['files'] ??= []), name),
  }
  for (const line of lines) {
    if ('board' in line) Object.assign(board, line.board)
    if (!('operation' in line)) continue
    const texts = Object.entries(line.texts ?? {}).map(([name, pieces]) => [
      name,
      pieces.map((piece) => (typeof piece === 'string' ? piece : `<id of ${at(piece.id)['title']}>`)).join(''),
    ])
    made.push(perform[line.operation]!(line.params, { ...line.body, ...Object.fromEntries(texts) }))
  }
  return withoutDefaults(board)
}

function add<T>(list: T[], item: T): T {
  list.push(item)
  return item
}

/** The same without members that are empty, false or null. */
function withoutDefaults(value: any): any {
  if (Array.isArray(value)) return value.map(withoutDefaults)
  if (typeof value !== 'object' || value === null) return value
  const isDefault = (member: unknown) =>
    member === '' || member === false || member === null || (Array.isArray(member) && member.length === 0)
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (isDefault(member) ? [] : [[name, withoutDefaults(member)]])))
}
