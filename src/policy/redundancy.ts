import type { Engine } from './engine.ts'
import { cells, type Cell } from './enumerate.ts'
import { covers, isDefinition, type Rule } from './rules.ts'
import type { Permission } from './vocabulary.ts'

/**
 * Finds the rules of the permission table that can be removed, each alone, without a change of any decision. Their order makes no
 * difference: of two rules that say the same, both are found. Each rule of the scope table decides something, because each permission has
 * exactly one.
 * @returns their ids
 */
export function findRedundant(engine: Engine): string[] {
  const byPermission = new Map<Permission, Cell[]>()
  for (const cell of cells(engine.vocabulary)) {
    const ofPermission = byPermission.get(cell.permission)
    if (ofPermission === undefined) byPermission.set(cell.permission, [cell])
    else ofPermission.push(cell)
  }
  return engine.permissionRules
    .filter((rule) => ![...byPermission].some(([permission, ofPermission]) => decides(engine, rule, permission, ofPermission)))
    .map(({ id }) => id)
}

/** Whether a decision about a permission changes if a rule is removed. */
function decides(engine: Engine, rule: Rule, permission: Permission, ofPermission: readonly Cell[]): boolean {
  const { facts, field } = ofPermission[0]!
  const { derived } = engine.decide(permission.id, facts, field === undefined ? undefined : [field])
  const concerns = isDefinition(rule) ? rule.subject.some((name) => Object.hasOwn(derived, name)) : covers(rule, permission)
  return concerns && ofPermission.some((cell) => changes(engine, rule.id, cell))
}

/** Whether the decision in a cell changes if a rule is removed. */
function changes({ decide }: Engine, rule: string, { permission: { id }, facts, field }: Cell): boolean {
  const fields = field === undefined ? undefined : [field]
  return decide(id, facts, fields).outcome !== decide(id, facts, fields, rule).outcome
}
