// The same rules in Cedar. They are parsed once; the facts are the context of a request.
import { readFileSync } from 'node:fs'
import cedar from '@cedar-policy/cedar-wasm/nodejs'

const entity = (type, id) => ({ type, id })

export async function createCedar() {
  for (const name of ['scopes', 'permissions']) {
    const staticPolicies = readFileSync(new URL(`${name}.cedar`, import.meta.url), 'utf8')
    const parsed = cedar.preparsePolicySet(name, { staticPolicies })
    if (parsed.type === 'failure') throw new Error(`${name}.cedar: ${parsed.errors.map(({ message }) => message).join('; ')}`)
  }
  const ask = (preparsedPolicySetId, action, context) => {
    const answer = cedar.statefulIsAuthorized({
      principal: entity('User', 'caller'),
      action: entity('Action', action),
      resource: entity('Resource', 'target'),
      context,
      preparsedPolicySetId,
      entities: [],
    })
    if (answer.type === 'failure') throw new Error(answer.errors.map(({ message }) => message).join('; '))
    return answer.response.decision === 'allow'
  }
  return {
    name: 'cedar-wasm',
    prepare({ permission, fields, facts: { token, ...others } }) {
      return { permission, find: `find ${permission}`, scope: { token }, facts: { ...others, ...(fields && { fields }) } }
    },
    decide({ permission, find, scope, facts }) {
      if (!ask('scopes', permission, scope)) return 'insufficient_scope'
      if (ask('permissions', permission, facts)) return 'allowed'
      return ask('permissions', find, facts) ? 'forbidden' : 'not_found'
    },
  }
}
