import fc from 'fast-check'
import MarkdownIt, { type Token } from 'markdown-it'
import { Fragment, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createReader } from '../../src/model/markdown.ts'
import { createProse } from '../../src/web/markdown.ts'
import { runs } from '../support/effort.ts'

// Texts are measured by what they are made of, and never by time.

const library = new MarkdownIt({ html: false, linkify: true })
const render = (text: string) => renderToString(h(Fragment, null, createProse({})(text)))
const tableOf = (columns: number, rows: number) => `${'|a'.repeat(columns)}|\n${'|-'.repeat(columns)}|\n${'b\n'.repeat(rows)}`
/** Whether a text is shown without an element in it. */
const isAsWritten = (html: string) => /^<p dir="auto">[^<]*<\/p>$/.test(html)

afterEach(() => void vi.restoreAllMocks())

describe('a text is Markdown up to a limit, and beyond it as it was written', () => {
  test.each<[what: string, textOf: (size: number) => string, most: number, element: string]>([
    ['lines', (size) => `*a*${'\n'.repeat(size - 1)}`, 2000, '<em>'],
    ['characters', (size) => `*a*${'b'.repeat(size - 3)}`, 100_000, '<em>'],
    ['marks', (size) => `*a*${'|'.repeat(size - 2)}`, 15_000, '<em>'],
    ['addresses of e-mail', (size) => 'a@b.example '.repeat(size), 1500, '<a href="mailto:'],
    // A colon is a mark.
    ['addresses of pages', (size) => 'http://b.example '.repeat(size), 1363, '<a href="http:'],
    ['elements in each other', (size) => `${'>'.repeat(size)} a`, 22, '<blockquote>'],
    ['lists in each other', (size) => `${'- '.repeat(size)}a`, 11, '<ul>'],
  ])('%s', (_what, textOf, most, element) => {
    const [below, above] = [textOf(most), textOf(most + 1)].map(render)
    expect([below, above].map((html) => html!.includes(element))).toEqual([true, false])
    expect(isAsWritten(above!)).toBe(true)
  })

  test('cells of tables, also those that no row has written', () => {
    // Each cell is three parts: its beginning, its content and its end.
    expect([38, 40].map((rows) => isAsWritten(render(tableOf(100, rows))))).toEqual([false, true])
  })
})

describe('the parser', () => {
  /** How many parts the parser makes of a text. */
  const partsOf = (text: string) => {
    const pushes = [library.block.State, library.inline.State].map(({ prototype }) => vi.spyOn(prototype, 'push'))
    createReader()(text)
    return pushes.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  }

  test.each<[what: string, text: string]>([
    ['a table of few lines', tableOf(100, 1900)],
    ['lists in lists', `${'- '.repeat(11)}a\n`.repeat(1000)],
    ['quotations and lists in each other', `${'> - '.repeat(7)}a\n`.repeat(1000)],
    ['pictures in pictures', `${'!['.repeat(10)}a${'](b)'.repeat(10)} `.repeat(330)],
    ['links', '[a](b) '.repeat(3700)],
  ])('stops at the limit: %s', (_what, text) => {
    expect(partsOf('a *b*')).toBeGreaterThan(3)
    vi.restoreAllMocks()
    expect(partsOf(text)).toBeLessThanOrEqual(12_000)
  })

  test.each<[what: string, text: string]>([
    ['in a paragraph', `a${'<!--'.repeat(3000)}`],
    ['in lines', '<!--\n'.repeat(1900)],
    ['in a quotation that ends before', `${'> <!--\n'.repeat(1900)}\n-->`],
  ])('looks for the end of comments a few times only: %s', (_what, text) => {
    const indexOf = vi.spyOn(String.prototype, 'indexOf')
    createReader()(text)
    const searches = indexOf.mock.calls.filter(([searched]) => searched === '-->').length
    vi.restoreAllMocks()
    expect(searches).toBeGreaterThan(0)
    expect(searches).toBeLessThan(5)
  })

  test('reads any text without comments as the library does', () => {
    library.validateLink = () => true
    library.linkify.set({ fuzzyLink: false, fuzzyEmail: true }).add('//', null).add('ftp:', null)
    const shapeOf = (tokens: readonly Token[]): unknown[] =>
      tokens.map(({ type, content, attrs, children }) => [type, content, attrs, shapeOf(children ?? [])])
    const piece = fc.constantFrom(
      ...'*_`~[]()!<>&\\:@|-+=#{}^$% \n"',
      '**',
      '~~',
      'a~~b~~',
      '](b)',
      'http://a.example',
      'a@b.example',
      'ab',
      '&amp;',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('').replaceAll('<!--', '')
        expect(shapeOf(createReader()(text)!)).toEqual(shapeOf(library.parse(text, {})))
      }),
      runs(500),
    )
  })
})
