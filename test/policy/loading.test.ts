import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { specificationRows, rowsAre } from '../../src/authz/shipped-rows.ts'
import { PolicyError } from '../../src/policy/diagnostic.ts'
import { loadEngine, type PolicyFiles } from '../../src/policy/engine.ts'
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

const NOT_IN_WEB_APP = '2:1 "read Log" is a permission of the web app (state it under "web_app", and in no operation)'
const OTHER_STATEMENT = 'another operation states something else of "read Board"'
const AVAILABLE = 'The vocabulary lists the facts and definitions of each permission'
const noWebApp: Edit = ['operations', 'web_app:\n  log.read: [X1, read Log, owners]\n', '']
/** One more operation of the API. */
const operation = (text: string): Edit => ['operations', 'web_app:', `  ${text}\nweb_app:`]

// What the files of `bad-policies` do not show: diagnostics of the second member of a list, or of two mistakes at a time.
const edits: [what: string, expected: string | undefined, ...edits: Edit[]][] = [
  ['an id with a name', undefined, ['permissions', 'id: P1,', 'id: P1.read,']],
  ['an id with two names', '6:11 id "P1.a.b" does not match row P1 (write "P1" or "P1.NAME")', ['permissions', 'id: P1,', 'id: P1.a.b,']],
  ['an id of another row', '6:11 id "P2.a" does not match row P1 (write "P1" or "P1.NAME")', ['permissions', 'id: P1,', 'id: P2.a,']],
  [
    'a row like no other',
    '6:27 unknown row "Paragraph" (specification.yaml lists the rows)',
    ['permissions', 'id: P1, row: P1', 'id: Paragraph, row: Paragraph'],
  ],
  [
    'a second action that is unknown',
    '6:39 unknown action "raed" (did you mean "read"?)',
    ['permissions', 'action: read, subject: [Board', 'action: [read, raed], subject: [Board'],
  ],
  [
    'a second subject that is unknown',
    '6:55 unknown subject "Comet" (did you mean "Comment"?)',
    ['permissions', '[Board, Comment]', '[Board, Comet]'],
  ],
  [
    'a second field that is unknown',
    '7:76 unknown field "nmae" (did you mean "name"?)',
    ['permissions', 'fields: [name]', 'fields: [name, nmae]'],
  ],
  ['several actions', undefined, ['permissions', 'action: read, subject: [Board', 'action: [read], subject: [Board']],
  [
    'an empty action, subject and field',
    '6:32 "action": must be one name or a list of at least one | 6:45 "subject": must be one name or a list of at least one | 6:58 "0": Too small: expected string to have >=1 characters',
    ['permissions', 'action: read, subject: [Board, Comment]', 'action: "", subject: "", fields: [""]'],
  ],
  [
    'a definition that uses another one of other groups',
    `5:78 "board.access" is not available here (available: caller.role. ${AVAILABLE}) | 10:95 "board.control" is not available here (available: caller.role, board.visibility, board.access. ${AVAILABLE})`,
    ['vocabulary', 'board.control: { groups: [caller, board]', 'board.control: { groups: [caller]'],
    ['vocabulary', 'forbidden_unless: [board.control], ', ''],
  ],
  [
    'a fact that one of three permissions does not have',
    `6:84 "comment.author" is not available here (available: caller.role, board.visibility, board.access. ${AVAILABLE})`,
    ['vocabulary', 'actions: { read: [Board] }', 'actions: { read: [Board], look: [Log] }'],
    ['vocabulary', 'read: [Comment],', 'read: [Comment], look: [Comment, Board],'],
    [
      'permissions',
      'action: read, subject: [Board, Comment], conditions: { board.access: true }',
      'action: look, subject: [Comment, Board, Log], conditions: { comment.author: caller }',
    ],
  ],

  [
    'a condition of an unknown fact that is always answered',
    '8:71 unknown fact "caller.roll" (did you mean "caller.role"?)',
    ['cases', 'always: []', 'always: [{ facts: { caller.role: owner }, response: 401 }, { facts: { caller.roll: owner }, response: 401 }]'],
  ],
  [
    'an unknown value that is always answered',
    '8:34 "onwer" is not a value of caller.role (did you mean "owner"?)',
    ['cases', 'always: []', 'always: [{ facts: { caller.role: [owner, onwer] }, response: 401 }]'],
  ],
  [
    'an unknown fact in the second alternative of a case',
    '4:68 unknown fact "caller.rule" (did you mean "caller.role"?) | 3:3 no case of "access" has board.visibility closed, caller.role owner (add it to one of the cases)',
    ['cases', '{ board.visibility: closed, caller.role: owner }', '{ board.visibility: closed, caller.rule: owner }'],
  ],
  [
    'a case without one of its alternatives',
    '3:3 no case of "access" has board.visibility open, caller.role member (add it to one of the cases) | 3:3 no case of "access" has board.visibility closed, caller.role owner (add it to one of the cases)',
    [
      'cases',
      'seen: [{ board.visibility: open }, { board.visibility: closed, caller.role: owner }]',
      'seen: { board.visibility: open, caller.role: owner }',
    ],
  ],
  [
    'alternatives of one case that overlap',
    undefined,
    ['cases', '{ board.visibility: closed, caller.role: owner }', '{ caller.role: owner }'],
  ],
  ['an unknown axis across', '11:34 unknown axis "rule" (did you mean "role"?)', ['cases', 'across: role', 'across: rule']],
  ['an axis that is no text', '13:19 unknown axis "7"', ['cases', 'down: role, owner', 'down: 7, owner']],
  ['no axis down', '13:11 unknown axis "undefined"', ['cases', 'down: role, owner', 'owner']],
  [
    'a response that does not exist in a list',
    '11:51 "405" is not a response (ok, 403 or 404)',
    ['cases', 'across: role, seen: [ok, 403]', 'across: role, seen: [ok, 405]'],
  ],
  [
    'one response for two cases',
    '11:46 2 responses are wanted: one for each case across',
    ['cases', 'across: role, seen: [ok, 403]', 'across: role, seen: ok'],
  ],

  [
    'a statement of a permission before its operation',
    undefined,
    ['operations', '  boards.read: [GET, /boards, read, P1, read Board, seen]\n', ''],
    operation('boards.read: [GET, /boards, read, P1, read Board, seen]'),
  ],
  ['two operations with the same permission', undefined, operation('boards.list: [GET, /all, read, P1, read Board, seen]')],
  [
    'two operations with different scopes of a permission',
    `8:16 ${OTHER_STATEMENT}`,
    operation('boards.list: [GET, /all, write, P1, read Board, seen]'),
  ],
  [
    'two operations with different rows of a permission',
    `8:16 ${OTHER_STATEMENT}`,
    operation('boards.list: [GET, /all, read, P2, read Board, seen]'),
  ],
  [
    'two further permissions, of which the second has another decision',
    `7:20 ${OTHER_STATEMENT}`,
    ['operations', '{ board: [P1, read Board, seen] }', '{ board: [P1, read Board, seen], other: [P1, read Board, owned] }'],
  ],
  [
    'a further permission that no operation has',
    '2:1 no operation decides "read Board" (add one, or remove the permission)',
    ['operations', '  boards.read: [GET, /boards, read, P1, read Board, seen]\n', ''],
  ],
  ['fields in another order', undefined, ['operations', '{ name: seen, visibility: owned }', '{ visibility: owned, name: seen }']],
  [
    'an unknown decision for a field',
    '4:18 unknown decision "ownd" (did you mean "owned"?)',
    ['operations', '{ name: seen, visibility: owned }', '{ name: seen, visibility: ownd }'],
  ],
  [
    'no decision for a field',
    '4:18 "update Board" is decided for visibility, name',
    ['operations', '{ name: seen, visibility: owned }', '{ name: seen }'],
  ],
  [
    'one decision for all fields',
    '4:18 "update Board" is decided for visibility, name',
    ['operations', '{ name: seen, visibility: owned }', 'seen'],
  ],
  [
    'an unknown row and permission',
    `9:13 unknown row "Row" | 9:13 unknown permission "read Logs" (did you mean "read Log"?) | 9:13 "read Logs" is not a permission of the web app (an operation of the API belongs to "operations") | ${NOT_IN_WEB_APP}`,
    ['operations', 'X1, read Log', 'Row, read Logs'],
  ],
  [
    'a decision on other facts',
    '9:13 the decision "owned" is about board, and "read Log" is not decided on it',
    ['operations', 'X1, read Log, owners', 'X1, read Log, owned'],
  ],
  [
    'an operation of the web app and of the API',
    '9:16 "boards.read" is an operation of the API, too',
    ['operations', 'log.read:', 'boards.read:'],
  ],
  [
    'an operation of the API with a permission of the web app',
    NOT_IN_WEB_APP,
    operation('log.api: [GET, /log, read, X1, read Log, owners]'),
  ],
  ['a permission of the web app that no operation of it has', NOT_IN_WEB_APP, noWebApp],
  [
    'a permission of the web app that is only a further one',
    NOT_IN_WEB_APP,
    noWebApp,
    ['operations', '{ board: [P1, read Board, seen] }', '{ board: [P1, read Board, seen], log: [X1, read Log, owners] }'],
  ],
  [
    'a decision that is no name',
    '6:59 "5": must be the name of a decision, or a decision for each field',
    ['operations', 'read Comment, seen]', 'read Comment, 7]'],
  ],
  [
    'a decision that is no response',
    '10:9 "seen": a decision is a response, or has the axis "down"',
    ['cases', '  seen: { down: access, seen: ok, hidden: 404 }', '  seen: 500'],
  ],
]

describe('loading a policy', () => {
  test('the valid policy that the bad ones are derived from is accepted', () => {
    expect(loadingError(good)).toBe('no error')
  })

  test.each(badPolicies)('refused: %s', (name) => {
    const file = read(name)
    const [, table] = /^# table: (\w+)$/m.exec(file.text)!
    const [, expected] = /^# refused: (.+)$/m.exec(file.text)!
    const error = refusal(() => loadEngine({ ...good, [table!]: file }, rowsAre(rows)))
    expect(diagnosticsOf(error)).toBe(expected)
    expect(error!.message).toContain(`${name}:${error!.diagnostics[0]!.line}:${error!.diagnostics[0]!.column}: `)
    expect(error!.message).toMatch(/^ +\| +\^+/m)
  })

  test.each(edits)('the small policy with %s', (_what, expected, ...made) => {
    expect(diagnosticsOf(refusal(() => small(...made)))).toBe(expected)
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
