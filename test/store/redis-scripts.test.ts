import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { COMMITS_LENGTH } from '../../src/store/redis/last-commits.ts'
import { runnerOnRedis } from '../support/redis-driver.ts'

// The scripts of commits and leases as the store calls them, with arguments that it needs only after faults.

/** The replies to a commit. One that is done now has the revision of the commit before. */
const [CONFLICT, DONE, WAITING] = [0, 1, 2]
const FIRST = ''
const [SHORT, LONGER] = [100_000, 200_000]

type IndexChange = [index: string, add: string[], remove: string[]]

const run = runnerOnRedis()
let base: string
beforeEach(() => {
  base = `scripts-${randomUUID()}:{w1}`
})

/** Sends a commit that puts a record. @param expected the revision that the record must have; "" if it must be absent */
const commit = (
  revision: string,
  { ttl = SHORT, resent = false, expected = [] as string[], lease = '', changes = [] as IndexChange[] } = {},
) => {
  const expectations = expected.flatMap((one) => ['a:1', one, ''])
  const indexes = changes.flatMap(([name, add, remove]) => [name, add.length, remove.length, ...add, ...remove])
  const lists = [lease, 0, expected.length, ...expectations, 0, 0, 1, 'a:1', 1, 0, 0, changes.length, ...indexes]
  const values = [resent ? '1' : '0', revision, `\n ${revision}`, `${lists.join('\0')}\0`, `${revision} {}`] as const
  return run((client) => client.lkCommit(`${base}:n`, revision, ttl, ...values))
}
const ttlOf = (revision: string) => run((client) => client.pttl(`${base}:c:${revision}`))
const revisionOfRecord = async () => (await run((client) => client.get(`${base}:r:a:1`)))?.split(' ')[0]

describe('the outcome of a commit', () => {
  test('is stored, and a commit that arrives again has it and changes nothing', async () => {
    expect(await commit('r1')).toBe(FIRST)
    expect(await commit('r2', { expected: ['r1'] })).toBe('r1')
    expect(await commit('r1')).toBe(DONE)
    expect(await revisionOfRecord()).toBe('r2')
  })

  test('is stored for longer when the commit is resent, because its first attempt may arrive late', async () => {
    await commit('r1')
    expect(await ttlOf('r1')).toBeLessThanOrEqual(SHORT)
    expect(await commit('r1', { ttl: LONGER, resent: true })).toBe(DONE)
    expect(await ttlOf('r1')).toBeGreaterThan(SHORT)
  })

  test('is not stored for longer when its first attempt arrives again', async () => {
    await commit('r1', { ttl: LONGER, resent: true })
    await commit('r1', { ttl: SHORT })
    expect(await ttlOf('r1')).toBeGreaterThan(SHORT)
  })

  test('is stored for a conflict too when the commit is resent, so that its first attempt conflicts as well', async () => {
    await commit('r1')
    expect(await commit('r2', { expected: [''], ttl: LONGER, resent: true })).toBe(CONFLICT)
    expect(await ttlOf('r2')).toBeGreaterThan(SHORT)
    await run((client) => client.del(`${base}:r:a:1`))
    expect(await commit('r2', { expected: [''] })).toBe(CONFLICT)
    expect(await revisionOfRecord()).toBeUndefined()
  })

  test('is not stored for a conflict of a first attempt: there is nothing that could arrive late', async () => {
    await commit('r1')
    expect(await commit('r2', { expected: [''] })).toBe(CONFLICT)
    await run((client) => client.del(`${base}:r:a:1`))
    expect(await commit('r2', { expected: [''] })).toBe('r1')
  })
})

describe('a lease in Redis', () => {
  const begin = (id: string) => run((client) => client.set(`${base}:t`, id, 'PX', SHORT))

  test('makes the commits of others wait, and they have changed nothing', async () => {
    await begin('t1')
    expect([await commit('r1'), await commit('r2', { lease: 't2' })]).toEqual([WAITING, WAITING])
    expect(await revisionOfRecord()).toBeUndefined()
    expect(await commit('r3', { lease: 't1' })).toBe(FIRST)
  })

  test('does not hide the outcome of a commit that was done before it began', async () => {
    await commit('r1')
    await begin('t1')
    expect(await commit('r1', { resent: true })).toBe(DONE)
  })

  test('is ended by its own id only', async () => {
    await begin('t1')
    const end = (id: string) => run((client) => client.lkEndLease(`${base}:t`, id))
    await end('t2')
    expect(await commit('r1')).toBe(WAITING)
    await end('t1')
    expect(await commit('r1')).toBe(FIRST)
  })
})

describe('the entries of an index', () => {
  const entries = () => run((client) => client.zrange(`${base}:i:i`, 0, -1))
  const numbered = (count: number) => Array.from({ length: count }, (_, i) => `e${String(i).padStart(5, '0')}`)

  test('are added and removed in any number by one commit', async () => {
    const all = numbered(9001)
    await commit('r1', { changes: [['i', all, []]] })
    expect(await entries()).toEqual(all)
    await commit('r2', { changes: [['i', ['x'], all]] })
    expect(await entries()).toEqual(['x'])
  })

  test('are removed without any other entry, whatever its name is', async () => {
    await commit('r1', { changes: [['i', ['0', '1', 'x'], []]] })
    await commit('r2', { changes: [['i', [], ['x']]] })
    expect(await entries()).toEqual(['0', '1'])
  })
})

describe('the last commits', () => {
  const text = () => run((client) => client.get(`${base}:n`))

  test('are cut when they are long, and each commit says which one was before', async () => {
    let previous = FIRST
    for (let i = 1; i <= 400; i++) {
      expect(await commit(`r${i}`)).toBe(previous)
      previous = `r${i}`
      expect((await text())!.endsWith(`\n ${previous}`)).toBe(true)
      expect((await text())!.length).toBeLessThanOrEqual(COMMITS_LENGTH)
    }
    expect(await text()).toContain('\n r350\n')
  })

  test.each(['r0', 'r0\n', 'r0 {"records":["a:1"],"indexes":[]}\nr00 {"rec'])(
    'that an earlier version has written stay: %j',
    async (before) => {
      await run((client) => client.set(`${base}:n`, before))
      await commit('r1')
      expect(await commit('r2')).toBe('r1')
      expect(await text()).toBe(`${before}\n r1\n r2`)
    },
  )
})

// Other versions of the program read the same data.
test('a commit stores what the format says', async () => {
  await commit('r1', { changes: [['i', ['x 1'], []]] })
  const hash = await run((client) => client.hgetall(`${base}:v`))
  const sets = await Promise.all(['i:i', 'k'].map((name) => run((client) => client.zrange(`${base}:${name}`, 0, -1, 'WITHSCORES'))))
  const strings = await run((client) => client.mget([`${base}:r:a:1`, `${base}:n`, `${base}:c:r1`]))
  expect({ strings, sets, hash }).toEqual({
    strings: ['r1 {}', '\n r1', '1'],
    sets: [
      ['x 1', '0'],
      ['a:1', '0'],
    ],
    hash: { i: 'r1' },
  })
})
