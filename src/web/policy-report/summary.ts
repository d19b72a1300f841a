import type { AnswerData, ReportData } from './data.ts'

/** What a client gets. `scope`: 403 insufficient_scope. */
export type Response = 'ok' | 'scope' | '401' | '403' | '404'

/** The order in which several responses are shown. */
const responses: readonly Response[] = ['ok', 'scope', '403', '404', '401']

/** The response of a cell. Where the decisions say 401, the permission table is not asked. */
export function responseOf({ outcome, handWritten }: AnswerData): Response {
  if (outcome === 'allowed') return 'ok'
  if (handWritten === 401) return '401'
  return outcome === 'forbidden' ? '403' : '404'
}

/** Chosen values of facts. */
export type Chosen = Readonly<Record<string, string>>

/**
 * The responses in each column of the matrix, in their order; in one column if the permission is not decided on the facts of the group. What
 * is answered 401 is left out, if there is anything else. The script of the page does the same for filtered cells (see script.ts).
 */
export function responsesByColumn(data: ReportData, permission: string, field: string | null, group: string): Response[][] {
  const { facts, fields, cells } = data.permissions[permission]!
  const sizeOf = (name: string) => data.facts[name]!.values.length
  const width = fields?.length ?? 1
  // The steps between two values of a fact, among cells and among columns. The last fact of a group changes fastest among its columns.
  const digits = data.groups[group]!.filter((name) => facts.includes(name)).map((name, i, names) => ({
    step: facts.slice(0, facts.indexOf(name)).reduce((step, one) => step * sizeOf(one), width),
    size: sizeOf(name),
    columns: names.slice(i + 1).reduce((columns, one) => columns * sizeOf(one), 1),
  }))
  const found = Array.from({ length: digits.reduce((count, { size }) => count * size, 1) }, () => new Set<Response>())
  for (const [index, answer] of cells.entries()) {
    if (fields !== null && fields[index % width] !== field) continue
    const column = digits.reduce((at, { step, size, columns }) => at + (Math.floor(index / step) % size) * columns, 0)
    found[column]!.add(responseOf(data.answers[answer]!))
  }
  return found.map((ofColumn) => {
    if (ofColumn.size > 1) ofColumn.delete('401')
    return responses.filter((response) => ofColumn.has(response))
  })
}

/** The combinations of values of the facts of a group: the columns of the matrix. */
export function columnsOf({ facts, groups }: ReportData, group: string): Chosen[] {
  return groups[group]!.reduce<Chosen[]>(
    (columns, name) => columns.flatMap((column) => facts[name]!.values.map((value) => ({ ...column, [name]: value }))),
    [{}],
  )
}

/** The group that most permissions are decided on, but not all: its facts tell most about them. */
export function mainGroup({ groups, permissions, scope }: ReportData): string {
  const all = Object.values(permissions)
  const counts = Object.entries(groups)
    .filter(([, names]) => !names.includes(scope))
    .map(([group, names]) => ({ group, count: all.filter(({ facts }) => facts.includes(names[0]!)).length }))
  const some = counts.filter(({ count }) => count < all.length)
  return (some.length === 0 ? counts : some).toSorted((a, b) => b.count - a.count)[0]!.group
}
