import { expect, test } from 'vitest'
import { requireBuild } from '../support/process.ts'
import { tables } from './command-line.ts'
import { markdown } from './report.ts'
import { stagesOf } from './cpu-profile.ts'
import { ratioOf, spreadOf } from './statistics.ts'

/** The first cells of each row. Written by hand. */
const expected: Readonly<Record<string, readonly string[]>> = {
  requests: ['GET account', 'GET card', 'list of 100 cards', 'PATCH card', 'PATCH card with a key', 'POST card'],
  stages: [
    'Node.js: HTTP, event loop',
    'h3 and srvx, with the write of the response',
    'limits of connections',
    'token: parsing, CRC, SHA-256, lifecycle',
    'rate limits',
    'both decisions',
    'store and transaction',
    'input',
    'envelope and JSON',
    'operation',
    'pipeline, metrics and records',
    "V8's garbage collection",
    'all',
  ],
  redis: ['GET account', 'GET card', 'list of 100 cards', 'PATCH card', 'PATCH card with a key', 'POST card', 'POST comment'],
  decisions: ['if-chain', 'Lanekeeper', 'cedar-wasm', 'casbin'],
  'decision-log': ['GET account', 'GET card', 'list of 100 cards', 'PATCH card', 'PATCH card with a key', 'POST card'],
  audit: ['GET account', 'GET card', 'list of 100 cards', 'PATCH card', 'PATCH card with a key', 'POST card'],
  claims: ['memory'],
  scale: ['memory', 'memory', 'memory'],
  files: ['upload', 'download'],
  start: ['Node.js alone', 'fs, 2 workspaces'],
}

test('each table of the benchmark has a test', () => {
  expect(tables.map(({ name }) => name)).toEqual(Object.keys(expected))
})

// Each checks by itself that all that it compares gives the same answers. What the figures are is not tested.
test.each(tables)('the table $name of the benchmark has all rows and figures', async ({ name, measure }) => {
  requireBuild()
  const { head, rows } = await measure('tiny', () => undefined)
  expect(rows.map(([first]) => first)).toEqual(expected[name])
  expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([head.length]))
  expect(rows.flat().filter((cell) => /NaN|Infinity|undefined/.test(cell))).toEqual([])
})

test('a spread is a median with half of the distance of the quartiles', () => {
  expect(spreadOf([9, 1, 5, 3, 7])).toEqual({ median: 5, spread: 2 })
})

test('a ratio is the median of those of the rounds', () => {
  expect(ratioOf([10, 100, 120, 60, 50], [10, 50, 40, 15, 10])).toEqual({ median: 3, spread: 1 })
})

test('a sample of a profile belongs to the innermost function that is not of Node.js', () => {
  const at = (id: number, url: string, children: number[] = [], functionName = 'f') => ({ id, callFrame: { functionName, url }, children })
  const nodes = [
    at(1, '', [2, 5, 6]),
    at(2, 'file:///x/node_modules/h3/dist/h3.mjs', [3]),
    at(3, 'file:///x/dist/http/principal.js', [4]),
    at(4, 'node:internal/crypto/hash'),
    at(5, '', [], '(idle)'),
    at(6, 'node:events'),
  ]
  const costs = stagesOf({ nodes, samples: [4, 2, 5, 6], timeDeltas: [20, 10, 1000, 10] }, 80)
  expect(Object.entries(costs).filter(([, cost]) => cost > 0)).toEqual([
    ['Node.js: HTTP, event loop', 20],
    ['h3 and srvx, with the write of the response', 20],
    ['token: parsing, CRC, SHA-256, lifecycle', 40],
  ])
})

test('a table is printed as Markdown', () => {
  expect(markdown(['request', 'µs'], [['GET', '1']])).toBe('| request | µs |\n| --- | ---: |\n| GET | 1 |')
})
