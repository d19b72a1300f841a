import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { PolicyError } from '../../src/policy/diagnostic.ts'
import type { PolicyFile } from '../../src/policy/engine.ts'
import { provePolicy } from '../../src/resources/policy-proof.ts'
import { operations } from '../../src/resources/table.ts'
import { edit } from '../support/other-policy.ts'
import { load, shippedFiles } from '../support/policy.ts'

interface HostilePolicy {
  readonly what: string
  readonly edits: readonly { in: PolicyFile; from: string; to: string }[]
}

const policies = parse(readFileSync(new URL('../../fixtures/hostile-policies.yaml', import.meta.url), 'utf8')) as HostilePolicy[]

/** Why the service does not start with a policy. */
function refusalOf(policy: HostilePolicy): string {
  const files = edit(
    shippedFiles,
    policy.edits.map(({ in: file, from, to }) => [file, from, to]),
  )
  try {
    return provePolicy(load(files), operations).failures.join('\n')
  } catch (error) {
    if (error instanceof PolicyError) return error.message
    throw error
  }
}

describe('a policy that breaks the specification', () => {
  test.each(policies.map((policy) => [policy.what, policy] as const))('a policy is refused in which %s', (_what, policy) => {
    expect(refusalOf(policy)).not.toBe('')
  })

  test('the refusal names the cell, its row and both answers', () => {
    const failure = refusalOf(policies.find(({ what }) => what === 'comments are edited and deleted by others')!)
    expect(failure).toContain(
      '"delete Comment", row P14: the tables answer ok by P14; the decisions say 403 (decision "author", workspace creator, other) (3 cells, for example caller.membership active, caller.role owner, board.visibility workspace, board.caller creator, comment.author other)',
    )
  })

  test('the refusal names the permission, its row and both scopes', () => {
    const failure = refusalOf(policies.find(({ what }) => what === 'a token of kanban:write deletes cards')!)
    expect(failure).toContain('"delete Card", row P10, requires kanban:write; the decisions say kanban:admin')
  })
})
