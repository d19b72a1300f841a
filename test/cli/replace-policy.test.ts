import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { examinations, type Examination } from '../../src/cli/policy/examination.ts'
import type { Examiner } from '../../src/cli/policy/examiner.ts'
import { replacePolicy, warnOfDepartures } from '../../src/cli/policy/replace.ts'
import type { PolicyFiles } from '../../src/policy/engine.ts'
import { memory } from '../support/memory.ts'
import { departing, otherFiles, policyFolder, writePolicy } from '../support/other-policy.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { Service } from '../support/service.ts'

const other = load(otherFiles)

/** Answers on this thread. `replacePolicy` is tested with a thread in `start/reload.test.ts`. */
const examiner: Examiner = {
  examine: async (...given) => examinations.examine(...given),
  departuresOf: async (...given) => examinations.departuresOf(...given),
}

function readableLog() {
  const lines: Record<string, unknown>[] = []
  return { lines, log: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) }) }
}

/** A service with the shipped policy, and a folder with another one. */
async function setUp(files: PolicyFiles = otherFiles, widenings?: string) {
  const service = await Service.start(memory, { engine: shipped })
  onTestFinished(() => service.stop())
  const folder = policyFolder()
  await writePolicy(folder, files, widenings)
  const { lines, log } = readableLog()
  const replace = (by: Partial<Examiner> = {}) => replacePolicy(service.app, { folder, files: shippedFiles }, log, { ...examiner, ...by })
  return { service, folder, lines, replace, inUse: () => service.app.services.engine.hash }
}

describe('a policy that is replaced', () => {
  test('is used with the proof of the examiner, and departures from the shipped one are logged after it', async () => {
    const { service, lines, replace, inUse } = await setUp(departing)
    const proof = { permissions: 1, cells: 1, milliseconds: 1, checks: [], failures: [] }
    const examine: Examiner['examine'] = async (...given) => ({ ...(await examiner.examine(...given)), proof }) as Examination
    const files = await replace({ examine })
    expect({ files, inUse: inUse() }).toMatchObject({
      files: { permissions: { text: departing.permissions.text } },
      inUse: load(departing).hash,
    })
    expect(service.app.proof).toBe(proof)
    expect(lines).toMatchObject([
      { event: 'policy.replaced', before: shipped.hash, policy: inUse(), changes: expect.any(Number), widened: 0 },
      { event: 'policy.departs', policy: inUse(), rows: ['P10'] },
    ])
  })

  test('is the one that was examined, if its folder changes meanwhile', async () => {
    const { folder, replace, inUse } = await setUp()
    const examine: Examiner['examine'] = async (...given) => {
      await writeFile(join(folder, 'permissions.yaml'), 'not a policy')
      return examiner.examine(...given)
    }
    expect(await replace({ examine })).toEqual(
      Object.fromEntries(Object.entries(otherFiles).map(([name, { text }]) => [name, { path: expect.any(String), text }])),
    )
    expect(inUse()).toBe(other.hash)
  })
})

describe('a policy is refused, the present one stays in use, and the log says why', () => {
  const accepted = (changed: object): Partial<Examiner> => ({
    examine: async (...given) => ({ ...examinations.examine(...given), ...changed }) as Examination,
  })
  test.each<[what: string, by: Partial<Examiner>, reason: string]>([
    ['fails', { examine: () => Promise.reject(new Error('out of memory')) }, 'out of memory'],
    ['throws', { examine: () => { throw new Error('no thread') } }, 'no thread'], // prettier-ignore
    ['has proved another policy', accepted({ hash: shipped.hash }), `the policy ${other.hash} is not the one that was proved`],
    [
      'has compared it with another policy',
      accepted({ before: other.hash }),
      `compared with the policy ${other.hash}, which is not in use`,
    ],
    ['has a proof that failed', accepted({ proof: { failures: ['x'] } }), 'is not the one that was proved'],
    ['has no proof', accepted({ proof: undefined }), 'failures'],
  ])('if the examiner %s', async (_what, by, reason) => {
    const { lines, replace, inUse } = await setUp()
    expect(await replace(by)).toBeUndefined()
    expect(inUse()).toBe(shipped.hash)
    expect(lines).toMatchObject([
      {
        event: 'policy.refused',
        policy: shipped.hash,
        reason: expect.stringContaining(reason),
        msg: expect.stringMatching(/stays in use$/),
      },
    ])
  })

  test('if its widenings are not valid, even without another change', async () => {
    const { lines, replace } = await setUp(shippedFiles, 'version: 2\n')
    expect(await replace()).toBeUndefined()
    expect(lines).toMatchObject([{ event: 'policy.refused', reason: expect.stringContaining('widenings.yaml') }])
  })
})

describe('at the start', () => {
  const departures = async (files: PolicyFiles, by: Partial<Examiner> = {}) => {
    const { lines, log } = readableLog()
    await warnOfDepartures(files, log, { ...examiner, ...by })
    return lines.map(({ event, policy, reason, rows }) => [event, policy, reason ?? rows])
  }

  test('a policy that differs from the shipped one in X rows only is no departure', async () => {
    expect(await departures(otherFiles)).toEqual([])
  })

  test('the shipped policy is not compared with itself', async () => {
    expect(await departures(shippedFiles, { departuresOf: () => Promise.reject(new Error('asked')) })).toEqual([])
  })

  test('the log says that it could not be compared, and the service goes on', async () => {
    expect(await departures(otherFiles, { departuresOf: () => Promise.reject(new Error('no thread')) })).toEqual([
      ['policy.not_compared', other.hash, 'no thread'],
    ])
  })
})
