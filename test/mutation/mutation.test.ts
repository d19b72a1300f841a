import { expect, test } from 'vitest'
import { isFile, readText } from '../lint/syntax.ts'
import { criticalFiles } from './critical-files.ts'
import { LUA_BUGS, SCRIPTS } from './lua-bugs.ts'
import { scoresOf } from './scores.ts'

test('every critical file exists', () => {
  const files = criticalFiles()
  expect(files.length).toBeGreaterThan(40)
  expect(files.filter((path) => !isFile(path))).toEqual([])
})

test.each(LUA_BUGS)('the text of a planted bug stands in the scripts once: $text', ({ text, replacement }) => {
  expect(SCRIPTS.map(readText).join('').split(text)).toHaveLength(2)
  expect(replacement).not.toBe(text)
})

test('a mutant that no test reaches lowers the score, and one that is explained does not', () => {
  const mutants = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored', 'CompileError'].map((status) => ({ status }))
  expect(scoresOf({ files: { a: { mutants } } })).toEqual([{ path: 'a', killed: 2, survived: 1, unreached: 1, ignored: 1, score: 50 }])
})
