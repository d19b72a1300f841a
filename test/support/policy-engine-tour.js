// Uses all of `lanekeeper/policy` once, and prints what it has found. `.ci/run` runs it on Node.js, Deno and Bun.
import { mkdtempSync, createReadStream, createWriteStream, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as engine from 'lanekeeper/policy'

const folder = fileURLToPath(new URL('../../fixtures/policies/repositories', import.meta.url))
const policy = engine.loadPolicy(folder)
const { failures } = engine.requireProof(policy)
const facts = { 'token.scope': 'repo:write', 'key.owner': 'caller' }
const question = { permission: 'update Key', facts, fields: ['owner'] }
const answered = engine.decide(policy, question)
const temporary = mkdtempSync(join(tmpdir(), 'policy-'))
const file = join(temporary, 'log')
const parts = () => [{ name: file, parts: createReadStream(file) }]
const stream = createWriteStream(file)
const log = await engine.openDecisionLog(policy, stream)
await log.write(engine.recordOf(policy, answered))
await log.close()
await new Promise((resolve) => stream.end(resolve))
const found = {
  failures: failures.length,
  answer: answered.answer,
  refused: engine.explain(policy, question.permission, facts, question.fields).stage.refusedFields,
  can: engine.abilityFor(policy, facts).can('update', 'Key', 'title'),
  changes: engine.diffPolicies(policy, engine.loadPolicy(folder)).changes.length,
  uncovered: engine.coverageOf(policy).rules.missing,
  matrix: engine.matrixOf(policy).includes('| `keys.update` |'),
  report: (await engine.reportOf(policy)).startsWith('<!doctype html>'),
  findings: (await engine.verifyDecisionLog(parts())).findings,
  differences: (await engine.replayDecisionLog(policy, parts())).differences.length,
}
rmSync(temporary, { recursive: true })
console.log(JSON.stringify(found))
