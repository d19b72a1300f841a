import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { filesBelow, readText } from '../lint/syntax.ts'
import { checkDriverSelection, driversOf } from '../support/driver-selection.ts'
import { findRedis, installLine, missingProgram, redisProgram } from '../support/programs.ts'
import { installNeeds, type Machine } from './install.ts'
import { findNeeds, type Need, type Needs } from './needs.ts'
import { COMPATIBILITY, suitesOfTiers } from './tiers.ts'

const suites = filesBelow('test').filter((path) => path.endsWith('.test.ts') && !path.startsWith(COMPATIBILITY))
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
    expect({ build: needsOfQuick.build, redisServer: needsOfQuick['redis-server'], chromium: needsOfQuick.chromium }).toEqual({
      build: [],
      redisServer: [],
      chromium: [],
    })
    expect(driversOf('service', 'quick', {})).not.toContain('redis')
    // It runs programs in Python.
    expect(tiers.full).toContain('test/web/webhook-receivers.test.ts')
    expect(driversOf('contract', 'quick', {})).not.toContain('redis')
  })

  test.each(['policy/hand-written-decisions.test.ts', 'http/matrix.test.ts', 'store/contract.test.ts', 'client/retries.test.ts'])(
    'the quick tier has %s',
    (suite) => expect(tiers.quick).toContain(`test/${suite}`),
  )
})

describe('missing programs', () => {
  const some: Needs = {
    build: [],
    'redis-server': ['a.test.ts'],
    'shared Redis': ['a.test.ts', 'b.test.ts'],
    chromium: ['c.test.ts'],
    proxies: ['d.test.ts'],
  }
  const none: Needs = { build: ['a.test.ts'], 'redis-server': [], 'shared Redis': [], chromium: [], proxies: [] }
  const redis = 'Redis server v=7.0.15'
  const browser = { channel: 'chrome' }
  const all = ['redis-server', 'chromium-headless-shell', 'nginx', 'caddy'] as const
  const proxies = ['nginx', 'caddy'] as const
  const line = (text: string) => expect.stringContaining(text)

  test.each<
    [
      what: string,
      needs: Needs,
      machine: { root?: boolean; aptWorks?: boolean; programs?: readonly string[] },
      found: object,
      lines: unknown[],
    ]
  >([
    ['when no suite needs a program, nothing is printed', none, {}, { redis: undefined, browser: undefined, missing: [] }, []],
    ['when the programs are there, nothing is printed', some, { programs: all }, { redis, browser, missing: [] }, []],
    [
      'as root on Debian they are installed, with one line that says why',
      some,
      {},
      { redis, browser, missing: [] },
      [
        'setup: redis-server is missing; needed by a.test.ts and 1 more. Installing the Debian package redis-server.',
        'setup: chromium-headless-shell is missing; needed by c.test.ts. Installing the Debian package chromium-headless-shell.',
        'setup: nginx is missing; needed by d.test.ts. Installing the Debian package nginx.',
        'setup: caddy is missing; needed by d.test.ts. Installing the Debian package caddy.',
      ],
    ],
    [
      'elsewhere one line says how to install each',
      some,
      { root: false },
      { redis: undefined, browser: undefined, missing: all },
      all.map((program) => line(`Tests that use it fail. Install it:  ${installLine(program)}`)),
    ],
    [
      'a failed installation stops nothing',
      some,
      { aptWorks: false, programs: ['redis-server', ...proxies] },
      { redis, browser: undefined, missing: ['chromium-headless-shell'] },
      [line('Installing'), line('apt-get could not install chromium-headless-shell'), line(installLine('chromium-headless-shell'))],
    ],
    [
      'the whole browser will do where the headless shell cannot be installed',
      some,
      { aptWorks: false, programs: ['redis-server', 'chrome', ...proxies] },
      { redis, browser, missing: [] },
      [line('Installing'), line('apt-get could not install chromium-headless-shell')],
    ],
    [
      'the whole browser will do elsewhere',
      some,
      { root: false, programs: ['redis-server', 'chrome', ...proxies] },
      { redis, browser, missing: [] },
      [],
    ],
  ])('%s', async (_what, needed, { root = true, aptWorks = true, programs = [] }, found, expected) => {
    const present = new Set(programs)
    const lines: string[] = []
    const machine: Machine = {
      hasProgram: (program) => present.has(program),
      findRedis: () => (present.has('redis-server') ? redis : undefined),
      hasFastBrowser: () => present.has('chromium-headless-shell'),
      findBrowser: async () => (present.has('chromium-headless-shell') || present.has('chrome') ? browser : undefined),
      canInstall: () => root,
      install: (program) => {
        if (!aptWorks) throw new Error('apt-get failed')
        present.add(program)
      },
    }
    expect({ found: await installNeeds(needed, machine, (line) => lines.push(line)), lines }).toEqual({ found, lines: expected })
  })

  test('the error of a test that needs one contains the line that installs it', () => {
    expect(missingProgram('redis-server').message).toContain(installLine('redis-server'))
  })
})

describe('REDIS_SERVER_PATH', () => {
  afterEach(() => void vi.unstubAllEnvs())

  test('chooses the Redis of the suites', () => {
    const program = join(mkdtempSync(join(tmpdir(), 'lanekeeper-')), 'valkey')
    writeFileSync(program, '#!/bin/sh\necho Valkey server v=8.1.1 sha=00000000:0 malloc=libc bits=64\n', { mode: 0o755 })
    vi.stubEnv('REDIS_SERVER_PATH', program)
    expect([redisProgram(), findRedis()]).toEqual([program, 'Valkey server v=8.1.1'])
  })

  test('is refused if it names no program', () => {
    vi.stubEnv('REDIS_SERVER_PATH', '/none')
    expect(findRedis).toThrow('REDIS_SERVER_PATH: /none cannot be run')
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
