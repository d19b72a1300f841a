import { expect, test } from 'vitest'
import { backUp } from '../../src/admin/backup.ts'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { restore } from '../../src/admin/restore.ts'
import { readTrail } from '../../src/audit/trail.ts'
import { DAY } from '../../src/model/time.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { startWithAudit } from '../support/audit-trail.ts'
import { createIo } from '../support/command-io.ts'
import { findDamage } from '../support/findings.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { giveAccount, Visitor } from '../support/visitor.ts'

test('a backup has the audit trail of workspaces and of accounts, which a check finds sound and which ends when it is too old', async () => {
  const { service: source, recorder } = await startWithAudit(memory)
  const person = await source.person(await source.workspace())
  await source.send(person.write, 'POST', '/boards', { name: 'x' })
  await new Visitor(source).signIn(await giveAccount(source, person))
  await recorder.flush()
  const io = createIo()
  await backUp(source.adminDeps, io)
  const target = await Service.start(memory)
  await restore(target.adminDeps, createIo(io.written))
  const trailOf = async ({ deps }: Service, partition: string) =>
    (await readTrail(deps, { sources: [{ partition, userId: person.id }], matches: () => true, limit: 10 })).entries
  for (const partition of [person.workspaceId, GLOBAL]) {
    expect(await trailOf(target, partition)).toHaveLength(1)
    expect(await trailOf(target, partition)).toEqual(await trailOf(source, partition))
  }
  expect((await findDamage(target.adminDeps)).findings.filter(({ subject }) => subject.includes('audit'))).toEqual([])
  // What belongs to no workspace is removed like the trail of a workspace.
  target.now += 100 * DAY
  for (let i = 0; i < 2; i++) await collectGarbage(target.adminDeps, GLOBAL)
  expect(await trailOf(target, GLOBAL)).toEqual([])
  await source.stop()
  await target.stop()
})
