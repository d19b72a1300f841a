// Both tables of the service, as a request asks them.
import { loadPolicy } from '../../../dist/authz/shipped-policy.js'

export function createLanekeeper() {
  const engine = loadPolicy()
  const { permissions, groups } = engine.vocabulary
  return {
    name: 'Lanekeeper',
    prepare({ permission, fields, facts }) {
      const needed = new Set(permissions.get(permission).groups.flatMap((group) => groups.get(group).map((fact) => fact.name)))
      const flat = Object.entries(facts).flatMap(([group, members]) =>
        Object.entries(members).map(([fact, value]) => [`${group}.${fact}`, value]),
      )
      const only = (keep) => Object.fromEntries(flat.filter(([fact]) => keep(fact)))
      return { permission, fields, scope: only((fact) => fact === 'token.scope'), facts: only((fact) => needed.has(fact)) }
    },
    decide({ permission, fields, scope, facts }) {
      if (!engine.checkScope(permission, scope).allowed) return 'insufficient_scope'
      return engine.decide(permission, facts, fields).outcome
    },
  }
}
