import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { filesBelow, parse, readText } from '../lint/syntax.ts'
import { readExplanations } from './explained.ts'
import { subjects } from './map.ts'
import { mutantsOf } from './mutants.ts'

/** What each mutant of a text makes of it, without the first line. */
const changed = (text: string) => mutantsOf(parse('x.ts', `declare const x: never\n${text}`)).map(({ after }) => after)

describe('the mutants of', () => {
  test.each<[string, string[]]>([
    ['if (a) b()', ['if (false) b()', 'if (true) b()']],
    ['while (a) b()', ['while (false) b()', 'while (a) ;']],
    ['const c = a ? b : d', ['const c = false ? b : d', 'const c = true ? b : d']],
    ['const c = a < b', ['const c = a <= b', 'const c = a >= b']],
    ['const c = a === b', ['const c = a !== b']],
    ['const c = a && b', ['const c = (a)', 'const c = (b)', 'const c = (a) || (b)']],
    ['const c = a ?? b', ['const c = (a)', 'const c = (b)']],
    ['const c = !a', ['const c = (a)']],
    ['const c = a + b', ['const c = a - b']],
    [`const c = a + ''`, [`const c = a + 'mutant'`]],
    ['const c = 1', ['const c = 2']],
    ['const c = true', ['const c = false']],
    [`const c = 'GET'`, ['const c = "GET_"']],
    [`const c = 'A sentence for people.'`, []],
    ['const c = `/v1/${a}`', [`const c = ''`]],
    ['const c = /^a$/', ['const c = /a$/', 'const c = /^a/']],
    ['const c = [a, b]', ['const c = [ b]', 'const c = [a, ]']],
    ['const c = { a, ...b }', ['const c = { ...b }', 'const c = { a, }']],
    ['const c = a?.b', ['const c = a.b']],
    ['const c = a?.(b)', ['const c = a(b)']],
    ['const c = a?.[b]', ['const c = a[b]']],
    ['const c = a.trim()', ['const c = a']],
    ['const c = a.some(b)', ['const c = a.every(b)']],
    ['c ??= a', [';', 'c = a']],
    ['c++', [';', 'c--']],
    ['await a(b)', [';', 'void a(b)']],
    [
      'function c() { for (;;) if (a) { b(); return } }',
      [
        'function c() { for (;;) if (false) { b(); return } }',
        'function c() { for (;;) if (true) { b(); return } }',
        'function c() { for (;;) if (a) { ; return } }',
        'function c() { for (;;) if (a) { b(); ; } }',
      ],
    ],
    [`throw new Error('x')`, [';', `throw new Error("x_")`]],
    [`log.warn({ event: 'a' }, 'b')`, [';']],
    [`import a from 'a'`, []],
    [`type A = 'a' | 1`, []],
  ])('%s', (text, expected) => {
    expect(changed(text)).toEqual(expected)
  })

  test.each<[string, string[]]>([
    ["redis.call('DEL', key)", ['']],
    ['if a == 1 then return end', ['', 'if true then return end', 'if a ~= 1 then return end', 'if a == 2 then return end']],
    ['if not a then\n  b[1] = c or d\nend', ['if a then', 'if true then', 'if false then', '', 'b[2] = c or d', 'b[1] = c and d']],
    ['local a = b', []],
  ])('the Lua script %j', (script, expected) => {
    const text = `const c = \`\n${script}\nreturn redis.call('GET')\n\``
    expect(mutantsOf(parse('x.ts', text)).map(({ after }) => after)).toEqual(expected)
  })
})

describe('the map', () => {
  test('names files and suites that exist', () => {
    const paths = subjects.flatMap(({ path, suites }) => [path, ...suites])
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })

  test('covers each file in the folders of tokens, accounts, listing, and the fs and Redis drivers', () => {
    const folders = ['src/auth/tokens', 'src/auth/accounts', 'src/listing', 'src/store/fs', 'src/store/redis']
    const mapped = new Set(subjects.map(({ path }) => path))
    expect(folders.flatMap(filesBelow).filter((path) => !mapped.has(path))).toEqual([])
  })
})

test('each explanation is complete, and its file is in the map', () => {
  const mapped = new Set(subjects.map(({ path }) => path))
  expect(readExplanations('.').filter(({ file }) => !mapped.has(file))).toEqual([])
})

test('each explanation is about code that is there', () => {
  const codeOf = (file: string) => readText(file).replaceAll(/\s+/g, ' ')
  expect(readExplanations('.').filter(({ file, before }) => !codeOf(file).includes(before))).toEqual([])
})
