import type { Engine } from './engine.ts'
import { cells } from './enumerate.ts'

/** The columns of every list of cells before those of the facts. */
const BEFORE = ['permission', 'field'] as const
const AFTER = ['minimum scope', 'response', 'row', 'rules'] as const
const responses = { allowed: 'ok', forbidden: '403', not_found: '404' } as const

/** Every cell of the permission table with its answer, as a table. A fact on which a permission is not decided is empty. */
export function listCells(engine: Engine): { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] } {
  const { vocabulary, decide, checkScope } = engine
  const { name, values } = vocabulary.scopeOrder
  const facts = [...vocabulary.facts.keys()].filter((fact) => fact !== name)
  const scopes = new Map([...vocabulary.permissions.keys()].map((id) => [id, checkScope(id, { [name]: values[0]! }).required]))
  const rows = [...cells(vocabulary)].map(({ permission: { id }, facts: present, field }) => {
    const { outcome, row, rules } = decide(id, present, field === undefined ? undefined : [field])
    return [id, field ?? '', ...facts.map((fact) => present[fact] ?? ''), scopes.get(id)!, responses[outcome], row, rules.join(' ')]
  })
  return { head: [...BEFORE, ...facts, ...AFTER], rows }
}
