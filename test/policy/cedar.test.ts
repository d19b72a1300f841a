import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import cedar from '@cedar-policy/cedar-wasm/nodejs'
import { expect, test } from 'vitest'
import { cells, type Cell } from '../../src/policy/enumerate.ts'
import { loadPolicy } from '../../src/policy-public.ts'
import { repositoriesFolder } from '../support/repositories.ts'

const engine = loadPolicy(repositoriesFolder)
const staticPolicies = readFileSync(join(repositoriesFolder, 'permissions.cedar'), 'utf8')
const parsed = cedar.preparsePolicySet('repositories', { staticPolicies })

function isAllowedByCedar({ permission, facts, field }: Cell): boolean {
  const context: Record<string, Record<string, string> | string[]> = field === undefined ? {} : { fields: [field] }
  for (const [name, value] of Object.entries(facts)) {
    const [group, fact] = name.split('.') as [string, string]
    context[group] = { ...(context[group] as Record<string, string>), [fact]: value }
  }
  const entity = (type: string, id: string) => ({ type, id })
  const answer = cedar.statefulIsAuthorized({
    principal: entity('User', 'caller'),
    action: entity('Action', permission.id),
    resource: entity('Resource', 'target'),
    context,
    preparsedPolicySetId: 'repositories',
    entities: [],
  })
  if (answer.type === 'failure') throw new Error(answer.errors.map(({ message }) => message).join('; '))
  return answer.response.decision === 'allow'
}

test('Cedar, with the same rules in its language, allows in the same cells', () => {
  expect(parsed).toMatchObject({ type: 'success' })
  const differing = [...cells(engine.vocabulary)].filter((cell) => {
    const fields = cell.field === undefined ? undefined : [cell.field]
    return isAllowedByCedar(cell) !== (engine.decide(cell.permission.id, cell.facts, fields).outcome === 'allowed')
  })
  expect(differing).toEqual([])
})
