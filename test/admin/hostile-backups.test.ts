import { expect, test } from 'vitest'
import { restore } from '../../src/admin/restore.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { createWorkspaceWithEveryKind } from '../support/every-kind.ts'
import { withTrailer } from '../support/export-lines.ts'
import { findDamage } from '../support/findings.ts'
import { Service } from '../support/service.ts'
import { backupOf } from '../support/transfers.ts'

interface Line {
  readonly key: string
  readonly value: Record<string, any>
}

const source = await Service.forSuite(drivers[0], { batch: 1 })
await createWorkspaceWithEveryKind(source)
/** The lines of a backup without the last one. */
const lines = (await backupOf(source.adminDeps)).lines.slice(0, -1)

const kindOf = (line: string) => /^\{"key":"(\w+):/.exec(line)?.[1]
/** Changes the first record of a kind. */
const changed = (kind: string, change: (record: Line) => object) => {
  const at = lines.findIndex((line) => kindOf(line) === kind)
  return lines.with(at, JSON.stringify(change(JSON.parse(lines[at]!))))
}
const member = (kind: string, name: string, value: unknown) =>
  changed(kind, (line) => ({ ...line, value: { ...line.value, [name]: value } }))

/** Restores a backup whose checksum is right. @returns the outcome, and how many findings a check of the storage has */
async function outcomeOf(hostile: readonly string[]): Promise<readonly [outcome: string, damage: number | undefined]> {
  const service = await Service.start(drivers[0]!, { secretKeys: source.deps.secretKeys })
  const deps = service.adminDeps
  const outcome = await restore(deps, createIo(withTrailer(hostile))).then(
    () => 'restored',
    (error: Error & { code?: string }) => `${error.name} ${error.code}: ${error.message}`,
  )
  const damage = outcome === 'restored' ? (await findDamage(deps)).summary.damage : undefined
  expect((await service.recordKeys('global')).length > 0).toBe(outcome === 'restored')
  await service.stop()
  return [outcome, damage]
}
const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
const argon = (cost: string) => `$argon2id$v=19$${cost}$c29tZXNhbHQ$aGFzaA`

test.each<[string, () => readonly string[], string]>([
  ['a member of a prototype', () => member('board', 'constructor', 'x'), 'Unrecognized key: "constructor"'],
  [
    'a revision that ends in the middle of a list, for Redis',
    () => member('claim', 'releases', [{ family: '0'.repeat(64), until: '2026-11-20T12:00:00.000Z', revision: 'r\0' }]),
    'releases.0.revision: must be a revision',
  ],
  ['an unknown role', () => member('membership', 'role', 'root'), 'role: '],
  ['a line that is nested deep', () => lines.toSpliced(3, 0, deep(100_000)), 'line 4 is not a valid line of a backup'],
  [
    'a response that is nested deep',
    () => lines.map((line) => (kindOf(line) === 'first_response' ? line.replace(/"data":.*$/, `"data":${deep(50_000)}}}`) : line)),
    'it is nested too deeply',
  ],
  ...['m=65537,t=2,p=1', 'm=19456,t=5,p=1', 'm=19456,t=2,p=255'].map((cost): [string, () => readonly string[], string] => [
    `a password that costs ${cost}`,
    () => member('account', 'password_hash', argon(cost)),
    'must be a hash of argon2id with at most 64 MiB',
  ]),
])('a backup with %s is refused, and leaves nothing', async (_what, make, message) => {
  expect(await outcomeOf(make())).toEqual([
    expect.stringMatching(new RegExp(`^AdminError invalid: .*${message.replaceAll(/[^\w ]/g, '.')}`)),
    undefined,
  ])
})

test('a backup as it was written is restored without a finding, also with a member __proto__, which is left out', async () => {
  expect(await outcomeOf(lines)).toEqual(['restored', 0])
  const own = changed('board', ({ key, value }) => ({ key, value: { ...value, ['__proto__']: { visibility: 'workspace' } } }))
  expect(await outcomeOf(own)).toEqual(['restored', 0])
})

test.each([
  { kept: ['authenticator', 'recovery_hashes'] },
  { kept: ['authenticator', 'pending', 'passkeys'] },
  { kept: ['passkeys'] },
  { kept: ['pending'] },
  { kept: [] },
])('a backup with a second factor of a person who has only $kept is restored', async ({ kept }) => {
  const parts = { authenticator: null, pending: null, recovery_hashes: [], passkeys: [] }
  const missing = Object.fromEntries(Object.entries(parts).filter(([name]) => !kept.includes(name)))
  expect(await outcomeOf(changed('second_factor', ({ key, value }) => ({ key, value: { ...value, ...missing } })))).toEqual(['restored', 0])
})
