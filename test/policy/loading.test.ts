import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { specificationRows, rowsAre } from '../../src/authz/shipped-rows.ts'
import { PolicyError } from '../../src/policy/diagnostic.ts'
import { loadEngine, type PolicyFile, type PolicyFiles } from '../../src/policy/engine.ts'
import type { Row } from '../../src/policy/specification.ts'
import { shippedFiles } from '../support/policy.ts'
import { small, type Edit } from '../support/small-policy.ts'

const folder = new URL('../../fixtures/bad-policies/', import.meta.url)
const read = (name: string) => ({ path: name, text: readFileSync(new URL(encodeURIComponent(name), folder), 'utf8') })
const rule = (row: string, conditions: string) =>
  `version: 1\nrules: [{ id: ${row}, row: ${row}, action: read, subject: Board, conditions: { ${conditions} }, reason: because }]\n`
const good = {
  vocabulary: read('vocabulary.yaml'),
  specification: read('specification.yaml'),
  cases: read('cases.yaml'),
  operations: read('operations.yaml'),
  scopes: { path: 'scopes.yaml', text: rule('S1', 'token.scope: read') },
  permissions: { path: 'permissions.yaml', text: rule('P1', 'caller.role: owner') },
}
const badPolicies = readdirSync(folder).filter((name) => !Object.values(good).some(({ path }) => path === name))

const rows = new Map([
  ['S1', { scopes: ['read'], words: 'read' }],
  ['S2', { scopes: ['write'], words: 'write' }],
  ['D1', { scopes: [], words: 'board access' }],
  ['P1', { scopes: ['read'], words: 'read' }],
  ['P2', { scopes: ['write'], words: 'update' }],
])

/** The error that the loader throws. */
function refusal(read: () => void): PolicyError | undefined {
  try {
    return void read()
  } catch (error) {
    if (error instanceof PolicyError) return error
    throw error
  }
}

/** All diagnostics of an error in one line: position, message, and the suggestion in parentheses. */
function diagnosticsOf(error: PolicyError | undefined): string | undefined {
  return error?.diagnostics
    .map(({ line, column, message, suggestion }) => `${line}:${column} ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`)
    .join(' | ')
}

function loadingError(files: PolicyFiles, shippedRows: ReadonlyMap<string, Row> = rows): string {
  return refusal(() => loadEngine(files, rowsAre(shippedRows)))?.message ?? 'no error'
}

const edits = parse(readFileSync(new URL('../small-policy-edits.yaml', folder), 'utf8')) as {
  readonly what: string
  readonly refused?: string
  readonly edits: readonly { in: PolicyFile; from: string; to: string }[]
}[]

describe('loading a policy', () => {
  test('accepts the valid policy that the bad ones are derived from', () => {
    expect(loadingError(good)).toBe('no error')
  })

  test.each(badPolicies)('refuses %s', (name) => {
    const file = read(name)
    const [, table] = /^# table: (\w+)$/m.exec(file.text)!
    const [, expected] = /^# refused: (.+)$/m.exec(file.text)!
    const error = refusal(() => loadEngine({ ...good, [table!]: file }, rowsAre(rows)))
    expect(diagnosticsOf(error)).toBe(expected)
    expect(error!.message).toContain(`${name}:${error!.diagnostics[0]!.line}:${error!.diagnostics[0]!.column}: `)
    expect(error!.message).toMatch(/^ +\| +\^+/m)
  })

  test.each(edits)('refuses the small policy with $what', ({ refused, edits: made }) => {
    const error = refusal(() => small(...made.map((one): Edit => [one.in, one.from, one.to])))
    expect(diagnosticsOf(error)).toBe(refused)
  })

  test('a diagnostic shows the line, carets under the position, and a suggestion', () => {
    const permissions = {
      ...shippedFiles.permissions,
      text: shippedFiles.permissions.text.replace(
        'conditions: { caller.membership: active, board.visibility: workspace }',
        'condition: { caller.membership: active, board.visibility: workspace }',
      ),
    }
    expect(loadingError({ ...shippedFiles, permissions }, specificationRows)).toMatchInlineSnapshot(`
      "policies/permissions.yaml:11:5: D1.workspace: "conditions" is missing
       11 |   - id: D1.workspace
          |     ^^^^^^^^^^^^^^^^ state it: there is no default value

      policies/permissions.yaml:15:5: D1.workspace: unknown key "condition"
       15 |     condition: { caller.membership: active, board.visibility: workspace }
          |     ^^^^^^^^^ did you mean "conditions"?"
    `)
  })

  test('a file that is nested too deeply is refused', () => {
    for (const text of [`version: ${'['.repeat(9000)}`, `version: ${'{ a: '.repeat(9000)}`])
      expect(loadingError({ ...good, permissions: { path: 'permissions.yaml', text } })).toContain('nested too deeply')
  })

  test('a diagnostic marks hidden characters, and its carets line up after tabs', () => {
    const permissions = { ...good.permissions, text: good.permissions.text.replace('because }]', 'because }] # \u001b[2K') }
    expect(loadingError({ ...good, permissions })).not.toContain('\u001b')
    const tabbed = {
      ...good.permissions,
      text: good.permissions.text.replace('rules: [{', 'rules:\t[{').replace('subject: Board', 'subject: Bord'),
    }
    const [, line, carets] = loadingError({ ...good, permissions: tabbed }).split('\n')
    expect(carets!.replaceAll('\t', '        ').indexOf('^')).toBe(line!.replaceAll('\t', '        ').indexOf('Bord'))
  })

  test('a byte order mark and CRLF line ends are accepted', () => {
    const permissions = { ...good.permissions, text: `\uFEFF${good.permissions.text.replaceAll('\n', '\r\n')}` }
    expect(loadingError({ ...good, permissions })).toBe('no error')
  })

  test('all errors of a file are reported', () => {
    const permissions = {
      ...good.permissions,
      text: good.permissions.text.replace('subject: Board', 'subject: Borad').replace('owner', 'ownr'),
    }
    expect(loadingError({ ...good, permissions }).match(/permissions\.yaml:2:\d+/g)).toHaveLength(2)
  })
})
