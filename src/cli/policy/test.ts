import { readPolicyFiles } from '../../authz/shipped-policy.ts'
import type { Check } from '../../policy/decided-space.ts'
import { PolicyError } from '../../policy/diagnostic.ts'
import type { Engine } from '../../policy/engine.ts'
import { PolicyInvariantError } from '../../policy/folder.ts'
import { proveInvariants } from '../../policy/prove.ts'
import { renderJunit, renderTap } from '../../policy/result-formats.ts'
import { Failure } from '../exit.ts'
import { counted, annotate, painter } from '../text.ts'
import { loadTexts, readPolicy } from './read-policy.ts'

interface TestFlags {
  readonly format: 'text' | 'json' | 'tap' | 'junit'
  readonly json?: boolean
}

/** Prints each check that fails, or all of them in a format for programs. */
export async function testPolicy(name: string | undefined, { format, json = false }: TestFlags): Promise<void> {
  const checks = await checksOf(name)
  const failed = checks.reduce((sum, { failures }) => sum + failures.length, 0)
  console.log({ text: renderText, json: renderJson, tap: renderTap, junit: renderJunit }[json ? 'json' : format](checks))
  if (failed > 0) throw new Failure('policyFailed', `the policy does not hold: ${counted(failed, 'failure')}`)
}

/** A policy that cannot be loaded fails in one check. */
async function checksOf(name: string | undefined): Promise<readonly Check[]> {
  const loading = 'the policy can be loaded'
  try {
    const { engine } = name === undefined ? loadTexts(readPolicyFiles()) : readPolicy(name)
    const checks = await proofOf(engine)
    for (const { name: title, failures } of checks) for (const failure of failures) annotate(title, failure)
    return [{ name: loading, failures: [] }, ...checks]
  } catch (error) {
    if (error instanceof PolicyError)
      for (const { message, suggestion, ...at } of error.diagnostics)
        annotate('the policy cannot be loaded', suggestion === undefined ? message : `${message}: ${suggestion}`, at)
    else if (error instanceof PolicyInvariantError) annotate('the policy cannot be loaded', error.message)
    else throw error
    return [{ name: loading, failures: error.message.split('\n\n') }]
  }
}

/** No service knows the facts and operations of another domain. */
async function proofOf(engine: Engine): Promise<readonly Check[]> {
  if (engine.vocabulary.domain !== undefined) return proveInvariants(engine).checks
  const [{ provePolicy }, { operations }] = await Promise.all([
    import('../../resources/policy-proof.ts'),
    import('../../resources/table.ts'),
  ])
  return provePolicy(engine, operations).checks
}

function renderText(checks: readonly Check[]): string {
  const { green, red } = painter(process.stdout)
  const failed = checks.filter(({ failures }) => failures.length > 0)
  const lines = failed.flatMap(({ name, failures }) => [
    `${red('not ok')} ${name}`,
    ...failures.map((failure) => failure.replaceAll(/^/gm, '  ')),
  ])
  const summary = `${counted(checks.length, 'check')}, ${failed.length} failed`
  return [...lines, failed.length === 0 ? green(summary) : red(summary)].join('\n')
}

function renderJson(checks: readonly Check[]): string {
  return JSON.stringify({ ok: checks.every(({ failures }) => failures.length === 0), checks })
}
