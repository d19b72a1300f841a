import { acceptedValues } from '../../policy/conditions.ts'
import type { Engine } from '../../policy/engine.ts'
import { cells, type Cell } from '../../policy/enumerate.ts'
import { withWebApp, type PolicyOperation } from '../../policy/operations.ts'
import { covers, isDefinition, type Rule } from '../../policy/rules.ts'
import type { Permission } from '../../policy/vocabulary.ts'
import type { AnswerData, OperationRow, PermissionData, ReportData, Response, RuleData } from './report-data.ts'

/** Decides every cell, and collects all that the page shows. */
export function createReportData(engine: Engine, operations: readonly PolicyOperation[]): ReportData {
  const { vocabulary, permissionRules, scopeRules } = engine
  const { scopeOrder } = vocabulary
  // Many cells have the same answer.
  const indexes = new Map<string, number>()
  const answers: AnswerData[] = []
  const cellsOf = new Map<string, number[]>([...vocabulary.permissions.keys()].map((id) => [id, []]))
  for (const cell of cells(vocabulary)) {
    const answer = answerOf(engine, cell)
    const key = JSON.stringify(answer)
    const index = indexes.get(key) ?? answers.push(answer) - 1
    indexes.set(key, index)
    cellsOf.get(cell.permission.id)!.push(index)
  }
  const namesOf = (group: string) => vocabulary.groups.get(group)!.map(({ name }) => name)
  const describe = (permission: Permission): PermissionData => {
    const rules = permissionRules.filter((rule) => covers(rule, permission))
    return {
      facts: permission.facts.map(({ name }) => name),
      fields: permission.fields ?? null,
      scope: engine.checkScope(permission.id, { [scopeOrder.name]: scopeOrder.values[0]! }).required,
      scopes:
        permission.surface === undefined
          ? scopeOrder.values.filter((value) => engine.checkScope(permission.id, { [scopeOrder.name]: value }).allowed)
          : [permission.surface],
      scopeRules: scopeRules.filter((rule) => covers(rule, permission)).map(({ id }) => id),
      row: rules[0]?.row ?? '',
      rules: rules.map(({ id }) => id),
      notFoundUnless: permission.notFoundUnless,
      cells: cellsOf.get(permission.id)!,
    }
  }
  const definitionRules = (name: string) => permissionRules.filter((rule) => isDefinition(rule) && rule.subject.includes(name))
  return {
    scope: scopeOrder.name,
    facts: Object.fromEntries([...vocabulary.facts.values()].map(({ name, values, means }) => [name, { values, means }])),
    groups: Object.fromEntries([...vocabulary.groups.keys()].map((group) => [group, namesOf(group)])),
    definitions: Object.fromEntries([...vocabulary.definitions.keys()].map((name) => [name, definitionRules(name).map(({ id }) => id)])),
    permissions: Object.fromEntries([...vocabulary.permissions].map(([id, permission]) => [id, describe(permission)])),
    answers,
    rules: Object.fromEntries([...scopeRules, ...permissionRules].map((rule) => [rule.id, ruleData(rule)])),
    rows: Object.fromEntries([...vocabulary.rows].map(([id, { words }]) => [id, words])),
    operations: withWebApp(engine, inGroups(operations)).flatMap((operation) => operationRows(operation, vocabulary.permissions)),
  }
}

/** What belongs together is shown together: `x.read` and `x.list`. */
function inGroups(operations: readonly PolicyOperation[]): PolicyOperation[] {
  const groupOf = ({ id }: PolicyOperation) => id.split('.')[0]!
  const groups = [...new Set(operations.map(groupOf))]
  return groups.flatMap((group) => operations.filter((operation) => groupOf(operation) === group))
}

function answerOf({ decisions, decide }: Engine, { permission, facts, field, fields }: Cell): AnswerData {
  const { outcome, rules, derived } = decide(permission.id, facts, fields)
  const stated = decisions.permissions.get(permission.id)!
  const { response: handWritten, name } = stated.lookUp(facts, field)
  const byTables = ({ allowed: 'ok', forbidden: '403', not_found: '404' } as const)[outcome]
  // Where the decisions say 401, the permission table is not asked, and must deny.
  const response: Response = handWritten === 401 && outcome !== 'allowed' ? '401' : byTables
  const agrees = response === String(handWritten)
  return { outcome, response, rules, definitions: derived, handWritten, agrees, decision: stated.decisionOf(field), case: name }
}

function ruleData({ row, conditions, fields, reason }: Rule): RuleData {
  const accepted = Object.entries(conditions).map(([name, condition]) => [name, acceptedValues(condition)] as const)
  return { row, conditions: accepted, fields: fields ?? null, reason }
}

function operationRows(
  { id, method, path, permission, kind, also }: PolicyOperation,
  permissions: ReadonlyMap<string, Permission>,
): OperationRow[] {
  const shared = { id, request: `${method} ${path}`, permission, member: null, isFilteredList: kind === 'filtered_list' }
  const fields = permissions.get(permission)!.fields ?? [null]
  const further = also.map((one) => ({ ...shared, permission: one.permission, member: one.member, field: null, isFilteredList: false }))
  return [...fields.map((field) => ({ ...shared, field })), ...further]
}
