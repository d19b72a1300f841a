import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { decide, findEnd, loadPolicy, openDecisionLog, recordOf, replayDecisionLog, verifyDecisionLog } from '../../src/policy-public.ts'
import { repositoriesFolder } from '../support/repositories.ts'

const engine = loadPolicy(repositoriesFolder)
const facts = {
  'token.scope': 'repo:write',
  'caller.organization': 'member',
  'repository.visibility': 'private',
  'repository.role': 'write',
  'repository.team': 'none',
}
const merge = { ...facts, 'state.archived': 'no', 'branch.protection': 'reviewed', 'review.state': 'missing' }
const questions = [
  { permission: 'read Repository', facts },
  { permission: 'merge PullRequest', facts: merge },
  { permission: 'delete Repository', facts },
  { permission: 'update Key', facts: { ...facts, 'key.owner': 'caller' }, fields: ['title'] },
  { permission: 'read AuditLog', facts: { 'caller.organization': 'member' } },
]

/** A log of all questions, which two processes have written. */
async function writtenLog(): Promise<Buffer> {
  const written: Buffer[] = []
  for (let i = 0; i < 2; i++) {
    const stream = new PassThrough()
    const log = await openDecisionLog(engine, stream, i === 0 ? undefined : await findEnd('log', written))
    for (const question of questions) await log.write(recordOf(engine, decide(engine, question), { request_id: 'r' }))
    await log.close()
    written.push(await buffer(stream.end()))
  }
  return Buffer.concat(written)
}

test('a log of another domain is verified, and replayed with the same policy without a difference', async () => {
  const files = [{ name: 'log', parts: [await writtenLog()] }]
  expect(await verifyDecisionLog(files)).toMatchObject({ findings: 0, found: [], lines: 12 })
  // In each half: four decisions of the scope table, and four of the permission table, because one scope was not sufficient.
  expect(await replayDecisionLog(engine, files)).toEqual({ records: 10, decisions: 16, differences: [] })
})
