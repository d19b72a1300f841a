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
  test.each(policies.map((policy) => [policy.what, policy] as const))('a policy is refused where %s', (_what, policy) => {
    expect(refusalOf(policy)).not.toBe('')
  })
})
