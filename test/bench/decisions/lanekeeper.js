// Both tables of the service, as a request asks them.
import { loadPolicy } from '../../../dist/app.js'

export async function createLanekeeper() {
  const engine = loadPolicy()
  return {
    name: 'Lanekeeper',
    prepare({ permission, fields, facts }) {
      const flat = Object.entries(facts).flatMap(([group, members]) =>
        Object.entries(members).map(([name, value]) => [`${group}.${name}`, value]),
      )
      const scope = flat.filter(([name]) => name === 'token.scope')
      return {
        permission,
        fields,
        scope: Object.fromEntries(scope),
        facts: Object.fromEntries(flat.filter(([name]) => name !== 'token.scope')),
      }
    },
    decide({ permission, fields, scope, facts }) {
      if (!engine.checkScope(permission, scope).allowed) return 'insufficient_scope'
      return engine.decide(permission, facts, fields).outcome
    },
  }
}
