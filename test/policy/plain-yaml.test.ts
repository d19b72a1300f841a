import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { isAlias, isNode, parseDocument, visit } from 'yaml'
import { describe, expect, test } from 'vitest'
import { isReadAlike } from '../../src/policy/source.ts'
import { readPlainYaml } from '../../src/policy/plain-yaml.ts'
import { effort } from '../support/effort.ts'
import { shippedFiles } from '../support/policy.ts'

const world = { path: 'world.yaml', text: readFileSync(new URL('../../fixtures/world.yaml', import.meta.url), 'utf8') }
const files = [...Object.values(shippedFiles), world]

/** What the package yaml reads, and everything in it that is not plain data. */
function readByPackage(text: string): { readonly data: unknown; readonly remarks: readonly string[] } {
  const document = parseDocument(text, { merge: false, uniqueKeys: true, schema: 'core', prettyErrors: false })
  const remarks = [...document.errors, ...document.warnings].map(({ message }) => message)
  visit(document, (_key, node) => {
    if (isAlias(node)) remarks.push('an alias')
    else if (isNode(node) && (node.anchor !== undefined || node.tag !== undefined)) remarks.push('an anchor or a tag')
  })
  return { data: document.toJS(), remarks }
}

test('each file that is shipped is read alike by both readers', () => {
  expect(files.filter((file) => !isReadAlike(file))).toEqual([])
})

test.each(files)('$path is plain, and the package reads the same', ({ text }) => {
  const { data, remarks } = readByPackage(text)
  expect(remarks).toEqual([])
  expect(readPlainYaml(text)).toEqual(data)
})

describe('a plain text', () => {
  test.each<[text: string, data: unknown]>([
    ['a: b', { a: 'b' }],
    ['a: b c, [d] {e} "f" is \'g\'? h:i', undefined],
    ['a: b c, [d] {e} is g? h:i', { a: 'b c, [d] {e} is g? h:i' }],
    ['# c\n\n  # c\na: 1\n# c\nb: -20  \n', { a: 1, b: -20 }],
    ['a:\n  b:\n    c: true\nd: false\n', { a: { b: { c: true } }, d: false }],
    ['a:\n  - b\n  # c\n  - c: 1\n    d: 2\n  - [e, { f: "g: #h" }]\n', { a: ['b', { c: 1, d: 2 }, ['e', { f: 'g: #h' }]] }],
    ['a: {f: "g: #h"}', { a: { f: 'g: #h' } }],
    ['a: { x.y: [], z: {}, $in: [b c, /d/{e}] }', undefined],
    ['a: { x.y: [], z: {}, $in: [b c, /d/e] }', { a: { 'x.y': [], z: {}, $in: ['b c', '/d/e'] } }],
    ['a: [b, {\n  c: d,\n  e: [f]\n }]\ng: yes', { a: ['b', { c: 'd', e: ['f'] }], g: 'yes' }],
  ])('%j', (text, data) => {
    expect(readPlainYaml(text)).toEqual(data)
  })
})

describe('left to the package', () => {
  const texts: Readonly<Record<string, readonly string[]>> = {
    'no map': ['', '# a', 'a', '- a', '[a]'],
    'no value': ['a:', 'a:\n', 'a: # b', 'a:\nb: c', 'a: { b }'],
    'a comment after a value': ['a: b # c', 'a: [b, # c\n  d]'],
    'several lines': ['a: b\n  c', 'a: "b\n  c"', 'a: |\n  b', 'a: >\n  b', 'a: [b\n  , c]', 'a: [b\n  c]'],
    'unusual indentation': [' a: b\nc: d', 'a: b\n c: d', 'a:\n- b', 'a:\n  -  b: c', 'a:\n  - b: c\n   d: e', '- - a', 'a: [b,\nc]'],
    'a duplicate key': ['a: b\na: c', 'a: { b: c, b: d }'],
    'a special key': ['__proto__: a', 'constructor: a', 'a: { prototype: b }', '<<: a', 'true: a', 'Null: a', '1: a', '"a": b', '? a\n: b'],
    'a special word': ['a: null', 'a: ~', 'a: True', 'a: .inf', 'a: ? b', 'a: 2 b'],
    'a number that is written otherwise': ['a: 01', 'a: 0x1', 'a: 1.5', 'a: 1e3', 'a: +1', 'a: -0', 'a: 1234567890123456'],
    'anchors, aliases and tags': ['a: &b c', 'a: *b', 'a: !b c', 'a: !!str 1'],
    'directives and documents': ['%YAML 1.2\n---\na: b', '---\na: b', 'a: b\n...', 'a: b\n---\nc: d'],
    'other quotes': ["a: 'b'", 'a: "b\\n"', 'a: "b" c'],
    'what can end a text': ['a: @b', 'a: `b', 'a: b: c', 'a: b:', 'a: b#c', 'a: [b: c]', 'a: [b', 'a: [b, ]'],
    'characters that are not ASCII': ['a: "é"', 'a: é', '\uFEFFa: b'],
    'other white space': ['a:\tb', 'a: b\r\n'],
    'too long or too deep': [
      `${'a'.repeat(200)}: b`,
      `a: ${'['.repeat(30)}${']'.repeat(30)}`,
      `${Array.from({ length: 30 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')} b`,
    ],
  }

  test.each(Object.entries(texts).flatMap(([what, list]) => list.map((text) => [what, text] as const)))('%s: %j', (_what, text) => {
    expect(readPlainYaml(text)).toBeUndefined()
  })
})

describe('whatever is plain, the package reads the same', () => {
  const parts = [
    ...'abxy/.:#[]{},-?|>&*!%@`\'"\\~=+',
    ' ',
    '\n',
    '\t',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
    '- ',
    ': ',
    ':\n',
    ', ',
    ' #',
    'é',
    '…',
  ]
  const words = [
    'a b',
    'a: ',
    'b: ',
    'a: [',
    'b: {a: ',
    '"a: b"',
    '1',
    '-1',
    '0',
    '1.5',
    'true',
    'null',
    'yes',
    '<<',
    '$in',
    '---',
    '...',
    '.inf',
  ]
  const fragment = fc.constantFrom(...parts, ...words)
  const invented = fc.array(fragment, { maxLength: 14 }).map((list) => `a: ${list.join('')}`)
  /** Some lines of a file, moved to the left, with some insertions and removals. */
  const altered = fc
    .tuple(
      fc.constantFrom(...files),
      fc.nat(),
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(3), fragment), { maxLength: 3 }),
    )
    .map(([{ text }, from, count, edits]) => {
      const all = text.split('\n')
      const lines = all.slice(from % all.length, (from % all.length) + count)
      const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)), 99)
      const start = lines.map((line) => line.slice(indent)).join('\n')
      return edits.reduce((line, [at, removed, added]) => {
        const place = at % (line.length + 1)
        return line.slice(0, place) + added + line.slice(place + removed)
      }, start)
    })

  /** The first text that is read otherwise than by the package, and how many were read. */
  function compare(read: typeof readPlainYaml): { readonly found: string | undefined; readonly accepted: number } {
    let accepted = 0
    for (const text of fc.sample(fc.oneof(invented, altered), effort(6000))) {
      const plain = read(text)
      if (plain === undefined) continue
      accepted++
      const { data, remarks } = readByPackage(text)
      if (remarks.length > 0 || JSON.stringify(plain) !== JSON.stringify(data)) return { found: text, accepted }
    }
    return { found: undefined, accepted }
  }

  test('in texts that were invented or altered', () => {
    const { found, accepted } = compare(readPlainYaml)
    expect(found).toBeUndefined()
    expect(accepted).toBeGreaterThan(effort(6000) / 30)
  })

  test.each<[what: string, read: typeof readPlainYaml]>([
    ['quotes mean nothing', (text) => readPlainYaml(text.replaceAll('"', ''))],
    ['null is a text', (text) => readPlainYaml(text.replaceAll('null', 'nil'))],
    ['a tab is a space', (text) => readPlainYaml(text.replaceAll('\t', ' '))],
  ])('seeded bug: %s', (_what, read) => {
    expect(compare(read).found).toBeDefined()
  })
})
