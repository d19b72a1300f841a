import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { exitCodeOf } from '../../src/cli/exit.ts'
import { renderCsv } from '../../src/cli/policy/matrix.ts'
import { createProgram } from '../../src/cli/program.ts'
import { cells } from '../../src/policy/enumerate.ts'
import { matrixRows, renderMatrix } from '../../src/policy/matrix.ts'
import { operations } from '../../src/resources/table.ts'
import { renderReport } from '../../src/web/policy-report/page.ts'
import { handWrittenOperations } from '../support/hand-written-decisions.ts'
import { shipped } from '../support/policy.ts'
import { runCommandLine } from '../support/process.ts'

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'policy-'))))
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs a command in this process, which takes a tenth of the time of another one. */
async function run(...args: string[]) {
  let stdout = ''
  const written = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((stdout += String(text)), true)),
    vi.spyOn(console, 'log').mockImplementation((text) => void (stdout += `${String(text)}\n`)),
  ]
  try {
    await createProgram().parseAsync(args, { from: 'user' })
    return { code: 0, stdout, error: '' }
  } catch (error) {
    return { code: exitCodeOf(error), stdout, error: (error as Error).message }
  } finally {
    for (const spy of written) spy.mockRestore()
  }
}

/** Reads CSV by RFC 4180 alone. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '\r\n') rows.push([])
  }
  expect(rows.pop()).toEqual([])
  return rows
}

describe('policy coverage', () => {
  test('of the hand-written decisions is complete, as text, JSON and LCOV', async () => {
    const lcov = join(folder, 'lcov.info')
    const { code, stdout } = await run('policy', 'coverage', '--json', '--lcov', lcov)
    expect(code).toBe(0)
    const { policy, source, rules, cells: ofTable } = JSON.parse(stdout)
    expect({ policy, source, missingRules: rules.missing, missingCells: ofTable.missing }).toEqual({
      policy: shipped.hash,
      source: 'decisions',
      missingRules: [],
      missingCells: [],
    })
    expect([ofTable.total, ofTable.covered]).toEqual(Array.from({ length: 2 }, () => [...cells(shipped.vocabulary)].length))
    const record = readFileSync(lcov, 'utf8')
    expect(record.match(/^SF:/gm)).toHaveLength(2)
    expect(record).toMatch(/^SF:.*policies\/permissions\.yaml$/m)
  })

  test('of a decision log counts the decisions of its records, including the items of lists and batches', async () => {
    const { permission } = handWrittenOperations.find(({ row }) => row === 'P7')!
    const facts = Object.fromEntries([...shipped.vocabulary.facts.values()].map(({ name, values }) => [name, values[0]!]))
    const asked = { permission, fields: null, facts }
    const scope = { permission, facts: { 'token.scope': 'kanban:admin' } }
    const lines = [
      { kind: 'start' },
      { scope, permission: asked },
      { scope, list: { decisions: [{ count: 5, permission: { ...asked, facts: { ...facts, 'caller.role': 'member' } } }] } },
      { scope, batch: [{ scope, permission: asked }], hidden: { definition: 'board.access', facts } },
      { scope, evaluations: [{ permission: { ...asked, permission: 'delete Absent' } }] },
    ]
    const log = join(folder, 'log.jsonl')
    writeFileSync(log, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"torn`)
    const { stdout } = await run('policy', 'coverage', '--json', '--log', log)
    const { source, decisions, unknown, cells: ofTable, scopes } = JSON.parse(stdout)
    expect({ source, decisions, unknown, cells: ofTable.covered, scopes: scopes.covered }).toEqual({
      source: 'log',
      decisions: 14,
      unknown: 1,
      cells: 2,
      scopes: 1,
    })
    writeFileSync(log, 'no record\n')
    expect(await runCommandLine(['policy', 'coverage', '--log', log])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${log}:1 `),
    })
    const { stdout: text } = await runCommandLine(['policy', 'coverage', '--log', '-'], {}, `${JSON.stringify(lines[1])}\n`)
    expect(text).toContain('coverage of 2 recorded decisions')
    expect(text).toContain('not covered: rules that decided\n  S1\n')
    expect(text).toMatch(/cells of the permission table +1 of \d+ \(0 %\), \d+ others are answered 401/)
  })
})

describe('policy matrix', () => {
  test('has every operation, as a table and as CSV', async () => {
    const [asTable, asCsv] = [await run('policy', 'matrix'), await run('policy', 'matrix', '--format', 'csv')]
    const [head, ...rows] = parseCsv(asCsv.stdout)
    expect(head!.slice(0, 3)).toEqual(['operation', 'method and path', 'permission'])
    expect(rows.map(([id]) => id)).toEqual(matrixRows(shipped, operations).map(([id]) => id!.replaceAll('`', '')))
    for (const { id, method, path } of operations)
      expect(asTable.stdout).toMatch(new RegExp(`^${id} +${method} ${path.replaceAll(/[{}]/g, '\\$&')} `, 'm'))
    expect(asTable.stdout + asCsv.stdout).not.toMatch(/\*\*|`/)
  })

  test('is policies/matrix.md as Markdown, and a page that loads nothing as HTML', async () => {
    const [markdown, page] = [await run('policy', 'matrix', '--format', 'markdown'), await run('policy', 'matrix', '--format', 'html')]
    expect(markdown.stdout).toBe(renderMatrix(shipped, operations))
    for (const { id } of operations) expect(page.stdout).toContain(id)
    expect(page.stdout).not.toMatch(/https?:\/\/|\ssrc=|<script/)
  })

  test('escapes the characters that have a meaning in CSV', () => {
    const rows = [['a,b', 'say "x"', 'two\r\nlines', '', 'plain']]
    expect(renderCsv({ head: ['1', '2', '3', '4', '5'], rows })).toBe('1,2,3,4,5\r\n"a,b","say ""x""","two\r\nlines",,plain\r\n')
    expect(parseCsv(renderCsv({ head: [], rows }).slice(2))).toEqual(rows)
  })
})

test('policy report writes the page to a file, with the changes since an earlier policy', async () => {
  const out = join(folder, 'report.html')
  const since = new URL('../../policies', import.meta.url).pathname
  const plain = await run('policy', 'report')
  // As a user runs it.
  const changed = await runCommandLine(['policy', 'report', '--out', out, '--since', since])
  expect(plain.stdout).toBe(renderReport(shipped, operations))
  expect({ code: changed.code, stdout: changed.stdout }).toEqual({ code: 0, stdout: '' })
  expect(readFileSync(out, 'utf8')).toContain('Nothing has changed.')
})
