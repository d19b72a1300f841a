import { expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { AuditRecorder } from '../../src/audit/recorder.ts'
import type { TrailEntry } from '../../src/audit/trail.ts'
import type { AuditEntry } from '../../src/model/audit.ts'
import { newId, systemRandom } from '../../src/model/ids.ts'
import { DAY } from '../../src/model/time.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { noIo } from '../../src/cli/command.ts'
import { quiet } from '../support/log.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

test('the command "audit" prints the entries that its filters select, newest first', async () => {
  const service = await Service.start(memory)
  const workspace = await service.workspace()
  const [ann, bob, token] = [newId('user', systemRandom), newId('user', systemRandom), newId('token', systemRandom)]
  const begin = service.now
  const add = async (partition: string, days: number, changes: Partial<AuditEntry>) => {
    service.now = begin + days * DAY
    const recorder = new AuditRecorder(service.deps, quiet)
    const at = new Date(service.now).toISOString()
    const entry = {
      token_id: null,
      token_name: null,
      ids: [],
      rows: [],
      outcome: 'done',
      status: 200,
      code: null,
      address: null,
      agent: null,
    } as const
    recorder.add(partition, { at, user_id: ann, operation: 'cards.update', request_id: String(days), ...entry, ...changes })
    await recorder.flush()
  }
  await add(workspace, 0, { user_id: bob })
  await add(workspace, 1, { token_id: token, token_name: 'x' })
  await add(workspace, 2, { outcome: 'denied' })
  await add(workspace, 3, { ids: [token], operation: 'web.tokens.revoke' })
  await add(workspace, 4, { user_id: bob, subject_id: ann })
  await add(GLOBAL, 5, { operation: 'web.sign_in' })
  service.now = begin + 5 * DAY
  const ask = async (question: object) =>
    ((await runCommand(service.adminDeps, 'audit', { workspace, denials: false, limit: 100, ...question }, noIo)) as TrailEntry[]).map(
      ({ request_id }) => request_id,
    )
  expect(await ask({})).toEqual(['4', '3', '2', '1', '0'])
  expect(await ask({ limit: 2 })).toEqual(['4', '3'])
  expect(await ask({ user: ann })).toEqual(['4', '3', '2', '1'])
  expect(await ask({ token })).toEqual(['3', '1'])
  expect(await ask({ denials: true })).toEqual(['2'])
  for (const since of ['2d', '48h', '-2d', '-48h', '-2880m', '2026-11-23', '2026-11-23T12:00:00Z'])
    expect([since, await ask({ since })]).toEqual([since, ['4', '3']])
  expect(await ask({ workspace: undefined })).toEqual(['5'])
  for (const [question, message] of [
    [
      { since: 'yesterday' },
      'since: "yesterday" is no date, no time such as 2026-11-20T12:00Z, and not one of -7d, -12h, +2w, -30m or now',
    ],
    [{ since: '7y' }, 'since: "7y" is no date'],
    [{ user: 'x' }, '"x" is not the id of a user'],
    [{ token: 'x' }, '"x" is not the id of a token'],
    [{ workspace: 'wsp_00000000000000000000' }, 'there is no workspace'],
    [{ limit: 0 }, 'limit'],
  ] as const)
    await expect(ask(question)).rejects.toThrow(message)
  await service.stop()
})
