import { describe, expect, test } from 'vitest'
import { filesBelow, readText } from '../lint/syntax.ts'
import { checkDriverSelection, driversOf } from '../support/driver-selection.ts'
import { installLine, missingProgram } from '../support/programs.ts'
import { installNeeds, type Machine } from './install.ts'
import { findNeeds, type Need, type Needs } from './needs.ts'
import { suitesOfTiers } from './tiers.ts'

const suites = filesBelow('test').filter((path) => path.endsWith('.test.ts'))
const needs = findNeeds(suites)
const needsOf = (suite: string) => Object.entries(needs).flatMap(([need, files]) => (files.includes(suite) ? [need] : []))

/** They name files of `dist`, and use none. */
const NAMES_ONLY = new Set(['test/setup/setup.test.ts', 'test/start/container.test.ts'])

describe('the needs of the suites', () => {
  test('the suites of the policy and of the source code need nothing', () => {
    const files = suites.filter((path) => /^test\/(policy|lint)\/|architecture/.test(path))
    expect(files.length).toBeGreaterThan(5)
    expect(files.flatMap(needsOf)).toEqual([])
  })

  test.each<[string, Need[]]>([
    ['test/store/contract.test.ts', ['shared Redis']],
    ['test/store/redis-identity.test.ts', ['redis-server', 'shared Redis']],
    ['test/store/redis-outage.test.ts', ['redis-server']],
    ['test/start/main.test.ts', ['build']],
    ['test/stress/fs-kill.test.ts', ['build']],
    ['test/web/browser/looks.test.ts', ['chromium']],
  ])('%s needs %j', (suite, expected) => expect(needsOf(suite)).toEqual(expect.arrayContaining(expected)))

  test('every suite that names a built file needs the build', () => {
    const built = suites.filter((path) => /['"/]dist\//.test(readText(path)) && !NAMES_ONLY.has(path))
    expect(built.filter((path) => !needs.build.includes(path))).toEqual([])
  })
})

describe('the tiers', () => {
  const tiers = suitesOfTiers()

  test('every suite is in the quick or in the full tier, and in both only if the quick tier has a sample of it', () => {
    expect([...new Set([...tiers.quick, ...tiers.full])].toSorted()).toEqual(suites)
    const both = tiers.quick.filter((suite) => tiers.full.includes(suite))
    expect(both.filter((suite) => !/\/sample\.ts'/.test(readText(suite)))).toEqual([])
  })

  test.each(['service', 'contract'] as const)('the quick and the drivers tier together have each driver of the %s once', (what) => {
    expect([...driversOf(what, 'quick', {}), ...driversOf(what, 'drivers', {})].toSorted()).toEqual(driversOf(what, 'full', {}).toSorted())
  })

  test('the quick tier needs nothing but Node.js', () => {
    const needsOfQuick = findNeeds(tiers.quick)
    expect([needsOfQuick.build, needsOfQuick['redis-server'], needsOfQuick.chromium]).toEqual([[], [], []])
    expect(driversOf('service', 'quick', {})).not.toContain('redis')
    expect(driversOf('contract', 'quick', {})).not.toContain('redis')
  })

  test.each([
    'policy/hand-written-decisions.test.ts',
    'http/matrix.test.ts',
    'http/order.test.ts',
    'store/contract.test.ts',
    'client/retries.test.ts',
  ])('the quick tier has %s', (suite) => expect(tiers.quick).toContain(`test/${suite}`))
})

describe('missing programs', () => {
  const some: Needs = { build: [], 'redis-server': ['a.test.ts'], 'shared Redis': ['a.test.ts', 'b.test.ts'], chromium: ['c.test.ts'] }
  const none: Needs = { build: ['a.test.ts'], 'redis-server': [], 'shared Redis': [], chromium: [] }
  /** A machine, what was installed on it, and what was printed. */
  const machineWith = ({ root = true, aptWorks = true, programs = [] as string[] }) => {
    const lines: string[] = []
    const machine: Machine = {
      hasRedis: () => programs.includes('redis-server'),
      findBrowser: async () => (programs.includes('chromium') ? { channel: 'chrome' } : undefined),
      canInstall: () => root,
      install: (program) => {
        if (!aptWorks) throw new Error('apt-get failed')
        programs.push(program)
      },
    }
    return { machine, lines, programs, print: (line: string) => void lines.push(line) }
  }

  test('nothing is installed and nothing is printed when no suite needs a program', async () => {
    const { machine, lines, programs, print } = machineWith({})
    expect(await installNeeds(none, machine, print)).toEqual({ redis: false, browser: undefined, missing: [] })
    expect([lines, programs]).toEqual([[], []])
  })

  test('nothing is installed and nothing is printed when the programs are there', async () => {
    const { machine, lines, print } = machineWith({ programs: ['redis-server', 'chromium'] })
    expect(await installNeeds(some, machine, print)).toEqual({ redis: true, browser: { channel: 'chrome' }, missing: [] })
    expect(lines).toEqual([])
  })

  test('as root on Debian they are installed, with one line that says why', async () => {
    const { machine, lines, programs, print } = machineWith({})
    expect(await installNeeds(some, machine, print)).toEqual({ redis: true, browser: { channel: 'chrome' }, missing: [] })
    expect(programs).toEqual(['redis-server', 'chromium'])
    expect(lines).toEqual([
      'setup: redis-server is missing; needed by a.test.ts and 1 more. Installing the Debian package redis-server.',
      'setup: chromium is missing; needed by c.test.ts. Installing the Debian package chromium.',
    ])
  })

  test('elsewhere one line says how to install each', async () => {
    const { machine, lines, programs, print } = machineWith({ root: false })
    expect(await installNeeds(some, machine, print)).toEqual({ redis: false, browser: undefined, missing: ['redis-server', 'chromium'] })
    expect(programs).toEqual([])
    expect(lines).toEqual([expect.stringContaining(installLine('redis-server')), expect.stringContaining(installLine('chromium'))])
  })

  test('a failed installation stops nothing', async () => {
    const { machine, lines, print } = machineWith({ aptWorks: false, programs: ['redis-server'] })
    expect(await installNeeds(some, machine, print)).toMatchObject({ redis: true, missing: ['chromium'] })
    expect(lines.at(-1)).toContain(installLine('chromium'))
  })

  test('the error of a test that needs one contains the line that installs it', () => {
    expect(missingProgram('redis-server').message).toContain(installLine('redis-server'))
  })
})

describe('LANEKEEPER_DRIVERS', () => {
  test('selects drivers of a tier, and without it all of them are selected', () => {
    expect(driversOf('service', 'full', {})).toEqual(['memory', 'fs', 'redis'])
    expect(driversOf('service', 'full', { LANEKEEPER_DRIVERS: 'fs,memory' })).toEqual(['memory', 'fs'])
    expect(driversOf('service', 'drivers', { LANEKEEPER_DRIVERS: 'fs,memory' })).toEqual(['fs'])
  })

  test('is refused when it names an unknown driver', () => {
    expect(() => driversOf('service', 'full', { LANEKEEPER_DRIVERS: 'memory,' })).toThrow('there is no driver ""')
  })

  test('is refused in CI', () => {
    expect(() => checkDriverSelection({ LANEKEEPER_DRIVERS: 'memory', CI: 'true' })).toThrow('CI must test every driver')
    expect(() => checkDriverSelection({ LANEKEEPER_DRIVERS: 'memory' })).not.toThrow()
    expect(() => checkDriverSelection({ CI: 'true' })).not.toThrow()
  })
})
