import { expect, test } from 'vitest'
import { requireBuild } from '../support/process.ts'
import { tables } from './command-line.ts'
import { markdown } from './report.ts'
import { ratioOf, spreadOf } from './statistics.ts'

/** The first cells of each row. Written by hand. */
const expected: Readonly<Record<string, readonly string[]>> = {
  requests: ['GET account', 'GET card', 'list of 100 cards', 'PATCH card', 'PATCH card with a key', 'POST card'],
  folder: ['POST card', 'PATCH card', 'first card of 100'],
  // Each with 8 connections and with 64.
  redis: ['GET account', 'GET card', 'list of 100 cards', 'the same, a card changed before each', 'POST card', 'PATCH card'].flatMap(
    (request) => [request, request],
  ),
  processes: ['1 process, one Redis', '4 processes, one Redis', '4 processes, three masters'],
  scale: ['memory', 'memory', 'memory'],
  start: ['Node.js alone', 'fs, 2 workspaces', 'fs, empty', 'memory, with the demo data'],
  watchers: [
    'one change, 8 watchers: CPU in ms',
    'one change, 8 watchers: bytes for each',
    '20 watchers, 5 changes a second: CPU in % of a core',
    '20 watchers, 5 changes a second: shown later than 1 s, of 100',
    'the page: CPU in ms',
  ],
  webhooks: ['memory, it delivers', 'redis, it delivers', 'redis, another process delivers'],
  pages: [
    'open a card and return: page loads',
    'open a card and return: of scroll, filter and focus kept',
    'a click on a card when nothing is new: KB',
    'first card at 1280×800: px',
    'first card at 390×844: px',
    'assign me: keys, loads',
    'label: keys, loads',
    'due tomorrow: keys, loads',
    'rename: keys, loads',
    'the page of the board: KB, compressed',
    'the page of the board: CPU in ms',
    'the page of the board, compressed: CPU in ms',
  ],
}

test('each table of the benchmark has a test', () => {
  expect(tables.map(({ name }) => name)).toEqual(Object.keys(expected))
})

// Each checks by itself that all that it compares gives the same answers. What the figures are is not tested.
test.each(tables)('the table $name of the benchmark has all rows and figures', async ({ name, measure }) => {
  requireBuild()
  const { head, rows } = await measure('tiny')
  expect(rows.map(([first]) => first)).toEqual(expected[name])
  expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([head.length]))
  expect(rows.flat().filter((cell) => /NaN|Infinity|undefined/.test(cell))).toEqual([])
})

test('a spread is a median with half of the distance of the quartiles', () => {
  expect(spreadOf([9, 1, 5, 3, 7])).toEqual({ median: 5, spread: 2 })
})

test('a ratio is the median of the ratios of the rounds', () => {
  expect(ratioOf([10, 100, 120, 60, 50], [10, 50, 40, 15, 10])).toEqual({ median: 3, spread: 1 })
})

test('a table is printed as Markdown', () => {
  expect(markdown(['request', 'µs'], [['GET', '1']])).toBe('| request | µs |\n| --- | ---: |\n| GET | 1 |')
})
