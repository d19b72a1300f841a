import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadEngine } from '../../src/policy/engine.ts'
import { PolicyError } from '../../src/policy/diagnostic.ts'
import { shippedFiles } from '../support/policy.ts'

const folder = new URL('../../fixtures/bad-policies/', import.meta.url)
const read = (name: string) => ({ path: name, text: readFileSync(new URL(encodeURIComponent(name), folder), 'utf8') })
const rule = (row: string, conditions: string) =>
  `version: 1\nrules: [{ id: ${row}, row: ${row}, action: read, subject: Board, conditions: { ${conditions} }, reason: because }]\n`
const good = {
  vocabulary: read('vocabulary.yaml'),
  scopes: { path: 'scopes.yaml', text: rule('S1', 'token.scope: read') },
  permissions: { path: 'permissions.yaml', text: rule('P1', 'caller.role: owner') },
}
const corpus = readdirSync(folder).filter((name) => name !== 'vocabulary.yaml')

function refusal(files: typeof good): string {
  try {
    loadEngine(files)
  } catch (error) {
    if (error instanceof PolicyError) return error.message
    throw error
  }
  return 'it was loaded'
}

describe('a policy that could mean something else than it says is refused', () => {
  test('and the one it is made from is not', () => {
    expect(refusal(good)).toBe('it was loaded')
  })

  test.each(corpus)('%s', (name) => {
    const file = read(name)
    const [, table] = /^# table: (\w+)$/m.exec(file.text)!
    const [, place, message] = /^# refused: (\d+:\d+) ?(.*)$/m.exec(file.text)!
    const said = refusal({ ...good, [table!]: file })
    expect(said).toContain(`${name}:${place}: `)
    expect(said).toContain(message)
    expect(said).toMatch(/^ +\| +\^+/m)
  })

  test('with the line, a caret under the place, and what to write instead', () => {
    const permissions = {
      ...shippedFiles.permissions,
      text: shippedFiles.permissions.text.replace(
        'conditions: { caller.membership: active, board.visibility: workspace }',
        'condition: { caller.membership: active, board.visibility: workspace }',
      ),
    }
    expect(refusal({ ...shippedFiles, permissions })).toMatchInlineSnapshot(`
      "policies/permissions.yaml:11:5: D1.workspace: "conditions" is missing
       11 |   - id: D1.workspace
          |     ^^^^^^^^^^^^^^^^ it must be stated: nothing is meant by leaving it out

      policies/permissions.yaml:15:5: D1.workspace: unknown key "condition"
       15 |     condition: { caller.membership: active, board.visibility: workspace }
          |     ^^^^^^^^^ did you mean "conditions"?"
    `)
  })

  test('what is nested too deep to be read', () => {
    for (const text of [`version: ${'['.repeat(9000)}`, `version: ${'{ a: '.repeat(9000)}`])
      expect(refusal({ ...good, permissions: { path: 'permissions.yaml', text } })).toContain('nested too deep')
  })

  test('with what does not show made visible, and the caret under the place behind tabs too', () => {
    const permissions = { ...good.permissions, text: good.permissions.text.replace('because }]', 'because }] # \u001b[2K') }
    expect(refusal({ ...good, permissions })).not.toContain('\u001b')
    const tabbed = {
      ...good.permissions,
      text: good.permissions.text.replace('rules: [{', 'rules:\t[{').replace('subject: Board', 'subject: Bord'),
    }
    const [, shown, caret] = refusal({ ...good, permissions: tabbed }).split('\n')
    expect(caret!.replaceAll('\t', '        ').indexOf('^')).toBe(shown!.replaceAll('\t', '        ').indexOf('Bord'))
  })

  test('an UTF-8 mark at the beginning and lines that end with a carriage return are what they seem', () => {
    const permissions = { ...good.permissions, text: `\uFEFF${good.permissions.text.replaceAll('\n', '\r\n')}` }
    expect(refusal({ ...good, permissions })).toBe('it was loaded')
  })

  test('and one fault does not hide another', () => {
    const permissions = {
      ...good.permissions,
      text: good.permissions.text.replace('subject: Board', 'subject: Borad').replace('owner', 'ownr'),
    }
    expect(refusal({ ...good, permissions }).match(/permissions\.yaml:2:\d+/g)).toHaveLength(2)
  })
})
