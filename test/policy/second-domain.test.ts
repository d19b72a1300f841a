import { createMongoAbility } from '@casl/ability'
import { describe, expect, test } from 'vitest'
import { cells } from '../../src/policy/enumerate.ts'
import { abilityFor, caslRules, caslSubject, decide, loadPolicy, loadPolicyTexts, prove, requireProof } from '../../src/policy-public.ts'
import { repositoryTexts, repositoriesFolder } from '../support/repositories.ts'

const engine = loadPolicy(repositoriesFolder)
const texts = repositoryTexts()

test('the policy of a code host holds, from disk and from texts', () => {
  const proof = requireProof(engine)
  expect(proof.failures).toEqual([])
  expect(prove(loadPolicyTexts(texts)).cells).toBe(proof.cells)
})

test('a text that is missing, and a policy that does not hold, are refused', () => {
  const { 'scopes.yaml': _removed, ...others } = texts
  expect(() => loadPolicyTexts(others)).toThrow('scopes.yaml is missing')
  const weaker = texts['permissions.yaml']!.replace(
    'role.admin: true, user.account: outside, outsiders.invited: by_admins',
    'role.admin: true, user.account: outside',
  )
  expect(() => requireProof(loadPolicyTexts({ ...texts, 'permissions.yaml': weaker }))).toThrow(
    'the decisions say 403 (decision "inviting", admin, invited by owners)',
  )
})

test('a role that no decision knows is refused, with each case that it lacks', () => {
  const vocabulary = texts['vocabulary.yaml']!.replace(
    '[admin, maintain, write, triage, read, none]\n      means: the role',
    '[admin, maintain, write, triage, read, security, none]\n      means: the role',
  )
  expect(() => loadPolicyTexts({ ...texts, 'vocabulary.yaml': vocabulary })).toThrow(
    'no case of "access" has caller.organization member, repository.role security',
  )
})

describe('CASL', () => {
  test('decides with the rules as the engine does, in every cell', () => {
    const ability = createMongoAbility(caslRules(engine))
    const differing = [...cells(engine.vocabulary)].filter(({ permission, facts, field }) => {
      const asked = { permission: permission.id, facts, ...(field !== undefined && { fields: [field] }) }
      const isAllowed = ability.can(permission.action, caslSubject(engine, asked) as never, field)
      return isAllowed !== (engine.decide(permission.id, facts, asked.fields).outcome === 'allowed')
    })
    expect(differing).toEqual([])
  })

  test('has an ability for stated facts, which denies what depends on others', () => {
    const facts = { 'token.scope': 'repo:admin', 'caller.organization': 'outside', 'key.owner': 'caller' }
    const repository = { 'repository.visibility': 'private', 'repository.role': 'admin', 'repository.team': 'none' }
    const ability = abilityFor(engine, { ...facts, ...repository })
    expect(ability.can('delete', 'Repository')).toBe(true)
    expect(ability.can('push', 'Branch')).toBe(false)
    expect(ability.can('read', 'AuditLog')).toBe(false)
    expect({ title: ability.can('update', 'Key', 'title'), owner: ability.can('update', 'Key', 'owner') }).toEqual({
      title: true,
      owner: false,
    })
    expect(abilityFor(engine, facts).can('read', 'Repository')).toBe(false)
    expect(abilityFor(engine, { ...facts, ...repository, 'token.scope': 'repo:read' }).can('delete', 'Repository')).toBe(false)
  })
})

describe('a decision', () => {
  const facts = {
    'caller.organization': 'outside',
    'repository.visibility': 'private',
    'repository.role': 'none',
    'repository.team': 'none',
  }

  test.each([
    ['repo:read', 'not_found'],
    ['none', 'insufficient_scope'],
  ])('with the scope %s is %s', (scope, answer) => {
    const answered = decide(engine, { permission: 'read Repository', facts: { ...facts, 'token.scope': scope } })
    expect({ allowed: answered.allowed, answer: answered.answer, isUndecided: answered.decision === undefined }).toEqual({
      allowed: false,
      answer,
      isUndecided: answer === 'insufficient_scope',
    })
  })

  test('of the web app asks for no scope; a missing fact is a defect of the caller', () => {
    expect(decide(engine, { permission: 'read AuditLog', facts: { 'caller.organization': 'owner' } })).toMatchObject({
      allowed: true,
      scope: undefined,
    })
    expect(() => decide(engine, { permission: 'read Repository', facts })).toThrow('fact "token.scope" is missing')
  })
})
