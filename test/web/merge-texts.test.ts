import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareTexts, mergeTexts } from '../../src/web/operations/merge-texts.ts'

const BASE = 'Sow the beans in May.\nWater them every day, but not at noon.\nWeed.'

describe('two versions of a text', () => {
  test.each([
    [
      'different lines',
      'Sow the peas in May.\nWater them every day, but not at noon.\nWeed.',
      'Sow the beans in May.\nWater them every day, but not at noon.\nWeed and dig.',
      'Sow the peas in May.\nWater them every day, but not at noon.\nWeed and dig.',
    ],
    [
      'words of one line that are apart',
      BASE.replace('Water', 'Shower'),
      BASE.replace('noon', 'night'),
      BASE.replace('Water', 'Shower').replace('noon', 'night'),
    ],
    [
      'adjacent lines',
      BASE.replace('May', 'June'),
      BASE.replace('Water', 'Shower'),
      BASE.replace('May', 'June').replace('Water', 'Shower'),
    ],
    ['the same change', BASE.replace('May', 'June'), BASE.replace('May', 'June'), BASE.replace('May', 'June')],
    ['only theirs', BASE, `${BASE}\nHarvest.`, `${BASE}\nHarvest.`],
    ['only mine', `Before.\n${BASE}`, BASE, `Before.\n${BASE}`],
    [
      'a removed line, and one that stays',
      BASE.replace('\nWeed.', ''),
      BASE.replace('May', 'June'),
      BASE.replace('May', 'June').replace('\nWeed.', ''),
    ],
    ['names of members of objects', `__proto__\n${BASE}`, `${BASE}\nconstructor`, `__proto__\n${BASE}\nconstructor`],
  ])('become one: %s', (_name, mine, theirs, text) => {
    expect(mergeTexts({ base: BASE, mine, theirs })).toEqual({ text, collides: false })
  })

  test.each([
    ['the same word', BASE.replace('May', 'June'), BASE.replace('May', 'July'), BASE.replace('May', 'June')],
    ['words beside each other', BASE.replace('every', 'each'), BASE.replace('day', 'evening'), BASE.replace('every', 'each')],
    ['a line that the other removed', BASE.replace('Weed', 'Dig'), BASE.replace('\nWeed.', ''), BASE.replace('Weed', 'Dig')],
    ['the end', `${BASE}\nMine.`, `${BASE}\nTheirs.`, `${BASE}\nMine.`],
    ['everything', 'Mine.', 'Theirs!', 'Mine.'],
    [
      'the same word, and theirs elsewhere is kept',
      BASE.replace('May', 'June'),
      BASE.replace('May', 'July').replace('Weed', 'Dig'),
      BASE.replace('May', 'June').replace('Weed', 'Dig'),
    ],
  ])('collide, and have mine there: %s', (_name, mine, theirs, text) => {
    expect(mergeTexts({ base: BASE, mine, theirs })).toEqual({ text, collides: true })
  })

  test('with more differences than are compared by words are merged by lines, and with still more are not', () => {
    const rows = (count: number, text: string) => Array.from({ length: count }, (_, i) => `${text} ${i} a b c d e f g h`).join('\n')
    const [base, mine] = [`First.\n${rows(60, 'x')}`, `First.\n${rows(60, 'y')}`]
    expect(mergeTexts({ base, mine, theirs: base.replace('First', 'Second') })).toEqual({
      text: mine.replace('First', 'Second'),
      collides: false,
    })
    expect(mergeTexts({ base: rows(300, 'x'), mine: rows(300, 'y'), theirs: '' })).toBeUndefined()
    expect(compareTexts(rows(300, 'x'), rows(300, 'y'))).toBeUndefined()
  })

  test('of random words: a version that changed nothing gives the other one, and without a collision the sides can be swapped', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', ' ', '\n', '.', 'ü'), { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, text, (base, mine, theirs) => {
        expect(mergeTexts({ base, mine, theirs: base })).toEqual({ text: mine, collides: false })
        expect(mergeTexts({ base, mine: base, theirs })).toEqual({ text: theirs, collides: false })
        expect(mergeTexts({ base, mine, theirs: mine })).toEqual({ text: mine, collides: false })
        const [one, other] = [mergeTexts({ base, mine, theirs })!, mergeTexts({ base, mine: theirs, theirs: mine })!]
        expect(one.collides).toBe(other.collides)
        if (!one.collides) expect(one.text).toBe(other.text)
        const [left, right] = compareTexts(mine, theirs)!
        expect([left, right].map((marks) => marks.map((mark) => mark.text).join(''))).toEqual([mine, theirs])
        const common = (marks: typeof left) => marks.flatMap((mark) => (mark.isOwn ? [] : [mark.text])).join('')
        expect(common(left)).toBe(common(right))
      }),
    )
  })
})

test('words that only one of two texts has are marked', () => {
  expect(compareTexts('Sow in May.', 'Sow in June.')).toEqual([
    [
      { text: 'Sow in ', isOwn: false },
      { text: 'May', isOwn: true },
      { text: '.', isOwn: false },
    ],
    [
      { text: 'Sow in ', isOwn: false },
      { text: 'June', isOwn: true },
      { text: '.', isOwn: false },
    ],
  ])
})
