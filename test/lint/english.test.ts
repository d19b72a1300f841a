import { expect, test } from 'vitest'
import { filesBelow, readText } from './syntax.ts'

// Habits that cost a reader a second look: relative clauses without the noun they stand for, and words that no native speaker writes there.
// Each is correct English now and then, so each group of files has an allowance. Lower it when there are fewer; do not raise it.

const HABITS = {
  // "its hash is that of the file" → "it has the file's hash"
  thatOf: /\b(?:that|those) of\b/gi,
  // "the token with which it was made" → "the token that made it"
  ofWhich: /(?<!order )\b(?:of|in|for|to|with|by|from|on|at|under|after|before|without) which\b/gi,
  // "what it names besides" → "what else it names"
  besides: /\bbesides\b/gi,
  // "the body, as far as it is read" → "the parts of the body that are read"
  asFarAs: /\bas far as\b/gi,
  // "an expired claim is none" → "an expired claim does not count"
  isNone: /(?<!\bthere (?:still )?)\b(?:is|are) none\b/gi,
}
type Habit = keyof typeof HABITS

/** Generated from the tables. */
const GENERATED = new Set(['src/client/operations.ts', 'src/http/operations.md', 'policies/matrix.md'])

const root = ['.github/CONTRIBUTING.md', 'README.md']
const files = ['src', 'policies', 'fixtures', 'test'].flatMap(filesBelow).filter((path) => !GENERATED.has(path))
const groups = {
  'the source': files.filter((path) => path.endsWith('.ts') && !path.startsWith('test/')),
  'the tests': files.filter((path) => path.endsWith('.ts') && path.startsWith('test/') && path !== 'test/lint/english.test.ts'),
  'the documents': [...root, ...files.filter((path) => /\.(?:md|ya?ml)$/.test(path))],
}

const ALLOWANCES: Readonly<Record<keyof typeof groups, Readonly<Record<Habit, number>>>> = {
  'the source': { thatOf: 2, ofWhich: 14, besides: 1, asFarAs: 1, isNone: 1 },
  'the tests': { thatOf: 2, ofWhich: 8, besides: 2, asFarAs: 2, isNone: 6 },
  'the documents': { thatOf: 1, ofWhich: 8, besides: 0, asFarAs: 0, isNone: 3 },
}

/** Each place of a habit, as `path:line: the line`. */
function find(habit: Habit, path: string, text: string = readText(path)): string[] {
  return text.split('\n').flatMap((line, index) => (line.match(HABITS[habit]) ?? []).map(() => `${path}:${index + 1}: ${line.trim()}`))
}

const habits = Object.keys(HABITS) as Habit[]
test.each((Object.keys(groups) as (keyof typeof groups)[]).flatMap((group) => habits.map((habit) => [group, habit] as const)))(
  'in %s, "%s" stands no more often than allowed',
  (group, habit) => {
    const found = groups[group].flatMap((path) => find(habit, path))
    const allowance = ALLOWANCES[group][habit]
    const message = `${found.length} places, ${allowance} allowed. Write one of them in plain words:\n${found.join('\n')}`
    expect(found.length, message).toBeLessThanOrEqual(allowance)
  },
)

test.each([
  ['thatOf', 'Its hash is that of the file.'],
  ['ofWhich', 'The token with which it was made.'],
  ['besides', 'What it names besides.'],
  ['asFarAs', 'The body, as far as it is read.'],
  ['isNone', 'An expired claim is none.'],
] as const)('the check finds %s', (habit, text) => {
  expect(find(habit, 'x.ts', `\n${text}`)).toEqual([`x.ts:2: ${text}`])
})
