import type { Condition } from '../../policy/conditions.ts'
import type { Engine } from '../../policy/engine.ts'
import { cells } from '../../policy/enumerate.ts'
import { DefinitionEvaluator } from '../../policy/matching.ts'
import type { Facts } from '../../policy/evaluate.ts'
import { withWebApp, type PolicyOperation } from '../../policy/operations.ts'
import { covers, isDefinition, type Rule } from '../../policy/rules.ts'
import type { Permission } from '../../policy/vocabulary.ts'
import type { AnswerData, OperationRow, PermissionData, ReportData, Response, RuleData } from './report-data.ts'

/** The values of a condition that are accepted. */
export function acceptedValues(condition: Condition): readonly string[] {
  if (condition === true) return ['true']
  return typeof condition === 'string' ? [condition] : condition.$in
}

/** Decides every cell, and collects all that the page shows. */
export function createReportData(engine: Engine, operations: readonly PolicyOperation[]): ReportData {
  const { vocabulary, permissionRules, scopeRules } = engine
  const { scopeOrder } = vocabulary
  const evaluator = new DefinitionEvaluator(engine)
  const answers = new Map<string, { readonly index: number; readonly answer: AnswerData }>()
  const cellsOf = new Map<string, number[]>()
  for (const { permission, facts, field } of cells(vocabulary)) {
    const answer = answerOf(engine, evaluator, permission, facts, field)
    const key = keyOf(answer)
    let known = answers.get(key)
    if (known === undefined) answers.set(key, (known = { index: answers.size, answer }))
    const ofPermission = cellsOf.get(permission.id)
    if (ofPermission === undefined) cellsOf.set(permission.id, [known.index])
    else ofPermission.push(known.index)
  }
  const namesOf = (group: string) => vocabulary.groups.get(group)!.map(({ name }) => name)
  const describe = (permission: Permission): PermissionData => {
    const rules = permissionRules.filter((rule) => covers(rule, permission))
    return {
      facts: permission.groups.flatMap(namesOf),
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
    answers: [...answers.values()].map(({ answer }) => answer),
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

function answerOf(
  { decisions, decide }: Engine,
  evaluator: DefinitionEvaluator,
  permission: Permission,
  facts: Facts,
  field: string | undefined,
): AnswerData {
  const { outcome, rules, derived } = decide(permission.id, facts, field === undefined ? undefined : [field])
  const definitions: Record<string, readonly string[]> = {}
  for (const { name, matching } of evaluator.evaluate(Object.keys(derived), facts).definitions) definitions[name] = matching
  const stated = decisions.permissions.get(permission.id)!
  const { response: handWritten, name } = stated.lookUp(facts, field)
  const byTables = ({ allowed: 'ok', forbidden: '403', not_found: '404' } as const)[outcome]
  // Where the decisions say 401, the permission table is not asked, and must deny.
  const response: Response = handWritten === 401 && outcome !== 'allowed' ? '401' : byTables
  return {
    outcome,
    response,
    rules,
    definitions,
    handWritten,
    agrees: response === String(handWritten),
    decision: stated.decisionOf(field),
    case: name,
  }
}

/** A text that is the same for the same answers. */
function keyOf({ outcome, rules, definitions, handWritten, decision, case: name }: AnswerData): string {
  let key = `${outcome}\n${rules.join()}\n${handWritten}\n${decision}\n${name}`
  for (const definition in definitions) key += `\n${definition} ${definitions[definition]!.join()}`
  return key
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
