import { pointsOf } from '../../policy/points.ts'

/** What a client gets. `scope`: 403 insufficient_scope. */
export type Response = 'ok' | 'scope' | '401' | '403' | '404'

/** The order of several responses that are shown together. */
const ORDER: readonly Response[] = ['ok', 'scope', '403', '404', '401']

/** What the page and its script show: everything that was decided, as plain data. Many cells have the same answer. */
export interface ReportData {
  /** the fact of the scope table */
  readonly scope: string
  readonly facts: Readonly<Record<string, FactData>>
  readonly groups: Readonly<Record<string, readonly string[]>>
  readonly definitions: Readonly<Record<string, readonly string[]>>
  readonly permissions: Readonly<Record<string, PermissionData>>
  readonly answers: readonly AnswerData[]
  readonly rules: Readonly<Record<string, RuleData>>
  readonly rows: Readonly<Record<string, string>>
  readonly operations: readonly OperationRow[]
}

export interface FactData {
  readonly values: readonly string[]
  readonly means: string
}

export interface PermissionData {
  /** of its groups, in the order of the enumeration of cells: the first one changes fastest */
  readonly facts: readonly string[]
  /** the fields that are decided one by one, which change faster than facts */
  readonly fields: readonly string[] | null
  /** the least scope; `web_app` if no token can have it */
  readonly scope: string
  /** all scopes that are enough */
  readonly scopes: readonly string[]
  readonly scopeRules: readonly string[]
  readonly row: string
  readonly rules: readonly string[]
  readonly notFoundUnless: readonly string[]
  /** for each cell the index of its answer */
  readonly cells: readonly number[]
}

/** What both stages and the hand-written decisions say in a cell. */
export interface AnswerData {
  readonly outcome: 'allowed' | 'forbidden' | 'not_found'
  /** where the decisions say 401, the permission table is not asked */
  readonly response: Response
  readonly rules: readonly string[]
  /** each definition that was evaluated, and its value */
  readonly definitions: Readonly<Record<string, boolean>>
  readonly handWritten: 'ok' | 401 | 403 | 404
  /** whether the tables answer what the hand-written decisions say */
  readonly agrees: boolean
  readonly decision: string
  readonly case: string
}

export interface RuleData {
  readonly row: string
  /** fact or definition → the values that are accepted; a definition must be true */
  readonly conditions: readonly (readonly [name: string, values: readonly string[]])[]
  readonly fields: readonly string[] | null
  readonly reason: string
}

/** A row of the matrix: an operation, one of its fields, or what is decided about each item of a member of its body. */
export interface OperationRow {
  readonly id: string
  readonly request: string
  readonly permission: string
  readonly field: string | null
  readonly member: string | null
  readonly isFilteredList: boolean
}

/** Values of facts. */
export type Chosen = Readonly<Record<string, string>>

/** A combination of values of all facts that a permission is decided on, and its answer. */
export interface Cell {
  readonly values: Chosen
  readonly answer: AnswerData
}

const has = (values: Chosen, chosen: Chosen) =>
  Object.entries(chosen).every(([name, value]) => values[name] === undefined || values[name] === value)

/** The cells of a row that have the chosen values. */
export function cellsOf({ permissions, facts, answers }: ReportData, { permission, field }: OperationRow, chosen: Chosen): Cell[] {
  const { facts: names, fields, cells } = permissions[permission]!
  const width = fields?.length ?? 1
  const at = fields?.indexOf(field!) ?? 0
  const points = [...pointsOf(names.map((name) => ({ name, values: facts[name]!.values })))]
  return points.flatMap((values, index): Cell[] => (has(values, chosen) ? [{ values, answer: answers[cells[index * width + at]!]! }] : []))
}

/** The cells with the chosen values, without the ones answered 401 if there are any others. */
export function relevant(cells: readonly Cell[], chosen: Chosen): readonly Cell[] {
  const all = cells.filter(({ values }) => has(values, chosen))
  const asked = all.filter(({ answer }) => answer.response !== '401')
  return asked.length > 0 ? asked : all
}

/** Whether the chosen scope, if one is chosen, is too small for a row. */
export function isScopeMissing({ scope, permissions }: ReportData, { permission }: OperationRow, chosen: Chosen): boolean {
  return chosen[scope] !== undefined && !permissions[permission]!.scopes.includes(chosen[scope])
}

/** What the matrix shows. */
export interface MatrixFilters {
  /** the group whose facts are the columns */
  readonly group: string
  readonly chosen: Chosen
  /** all of them are in the text of a row */
  readonly words: readonly string[]
  /** the rows that are allowed in some cell, or in none */
  readonly only: '' | 'ok' | 'no'
}

/** A row with its cells: one for each column, or a single one if it is not decided on the facts of the columns. */
export interface MatrixRow {
  readonly row: OperationRow
  readonly cells: readonly { readonly column: Chosen; readonly found: readonly Response[] }[]
}

/** The combinations of values of the facts of a group that have the chosen values: the columns of the matrix. */
export function columnsOf({ facts, groups }: ReportData, { group, chosen }: Pick<MatrixFilters, 'group' | 'chosen'>): Chosen[] {
  return groups[group]!.reduce<Chosen[]>(
    (columns, name) => {
      const values = facts[name]!.values.filter((value) => (chosen[name] ?? value) === value)
      return columns.flatMap((column) => values.map((value) => ({ ...column, [name]: value })))
    },
    [{}],
  )
}

/** The rows of the matrix that the filters leave. */
export function matrixRows(data: ReportData, filters: MatrixFilters): MatrixRow[] {
  const { group, chosen, words, only } = filters
  const columns = columnsOf(data, filters)
  return data.operations.flatMap((row): MatrixRow[] => {
    const { facts, row: id, rules, scopeRules } = data.permissions[row.permission]!
    const text = [nameOf(row), row.request, row.permission, id, ...rules, ...scopeRules].join(' ').toLowerCase()
    if (!words.every((word) => text.includes(word))) return []
    const isDecidedOn = data.groups[group]!.some((name) => facts.includes(name) || name === data.scope)
    const all = cellsOf(data, row, chosen)
    const cells = (isDecidedOn ? columns : [{}]).map((column) => {
      if (isScopeMissing(data, row, { ...chosen, ...column })) return { column, found: ['scope' as const] }
      const responses = new Set(relevant(all, column).map(({ answer }) => answer.response))
      return { column, found: ORDER.filter((response) => responses.has(response)) }
    })
    const isAllowed = cells.some(({ found }) => found.includes('ok'))
    return (only === 'ok' && !isAllowed) || (only === 'no' && isAllowed) ? [] : [{ row, cells }]
  })
}

export function nameOf({ id, field, member }: OperationRow): string {
  return id + (field === null ? '' : `.${field}`) + (member === null ? '' : ` ${member}`)
}
