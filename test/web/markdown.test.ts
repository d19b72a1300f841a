import fc from 'fast-check'
// @ts-expect-error The package has no types.
import { tests as examplesOfSpecification } from 'commonmark-spec'
import MarkdownIt, { type Token } from 'markdown-it'
import { Fragment, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { runs } from '../support/effort.ts'
import { parseMarkdown } from '../../src/model/markdown.ts'
import { createProse, linkOrText, plainWords, type Known } from '../../src/web/markdown.ts'

const CARD = 'crd_0000000000000000000c'
const BOARD = 'brd_0000000000000000000b'
const HIDDEN = 'crd_0000000000000000000h'
const ANA = 'usr_0000000000000000000a'
const TITLES: Readonly<Record<string, string>> = { [CARD]: 'Fix <the> build', [BOARD]: 'Spring' }
const known: Known = {
  nameOf: (id) => (id === ANA ? 'Ana' : undefined),
  linkOf: (id) => (TITLES[id] === undefined ? undefined : { href: `/app/x/${id}`, title: TITLES[id] }),
  pictureOf: (address) => (address === 'plan.png' ? '/app/x/attachments/att_1/picture' : undefined),
}

/** The elements of a text, without what each of them has: directions of writing, and the relation of a link. */
function render(text: string): string {
  const html = renderToString(h(Fragment, null, createProse(known)(text)))
  return html.replaceAll(/ dir="(?:auto|ltr)"| rel="noopener noreferrer nofollow"| tabindex="0" role="group" aria-label="Table"/g, '')
}

const link = (href: string, text = href) => `<a href="${href}">${text}</a>`
const [toDo, done] = [
  '<span class="unseen">to do: </span><span aria-hidden="true">☐</span> ',
  '<span class="unseen">done: </span><span aria-hidden="true">☑</span> ',
]

// What agents and people write. The elements are written by hand.
describe('a text is shown as Markdown', () => {
  test.each<[what: string, text: string, html: string]>([
    ['nothing', '', ''],
    ['a paragraph of two lines', 'one\ntwo', '<p>one\ntwo</p>'],
    ['two paragraphs', 'one\n\ntwo', '<p>one</p><p>two</p>'],
    ['lines of Windows', 'one\r\ntwo\r\n\r\nthree', '<p>one\ntwo</p><p>three</p>'],
    ['a break by two spaces', 'one  \ntwo', '<p>one<br/>two</p>'],
    ['a break by a backslash', 'one\\\ntwo', '<p>one<br/>two</p>'],
    [
      'headings, which differ',
      '# A\n## B\n### C\n#### D',
      '<h3 class="level-1">A</h3><h4 class="level-2">B</h4><h5 class="level-3">C</h5><h6 class="level-4">D</h6>',
    ],
    ['small headings', '##### E\n###### F', '<h6 class="level-5">E</h6><h6 class="level-6">F</h6>'],
    ['a heading that is underlined', 'A\n=\n\nB\n-', '<h3 class="level-1">A</h3><h4 class="level-2">B</h4>'],
    ['a heading with marks at its end', '## A ##', '<h4 class="level-2">A</h4>'],
    ['a sign without a space', '#tag', '<p>#tag</p>'],
    ['strong and emphasized text', '**a** __b__ *c* _d_', '<p><strong>a</strong> <strong>b</strong> <em>c</em> <em>d</em></p>'],
    ['both at once', '***a***', '<p><em><strong>a</strong></em></p>'],
    ['a name with underscores', 'snake_case_name', '<p>snake_case_name</p>'],
    ['struck text', '~~a~~', '<p><del>a</del></p>'],
    ['code', '`a` ``b ` c``', '<p><code>a</code> <code>b ` c</code></p>'],
    ['code with markup', '`**a** <b>`', '<p><code>**a** &lt;b></code></p>'],
    ['a nested list', '- a\n  - b\n    - c\n- d', '<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>'],
    ['a list of four spaces', '1. a\n    - b', '<ol><li>a<ul><li>b</li></ul></li></ol>'],
    ['a list with other marks', '* a\n* b\n\n+ c', '<ul><li>a</li><li>b</li></ul><ul><li>c</li></ul>'],
    ['numbers', '1. a\n2. b', '<ol><li>a</li><li>b</li></ol>'],
    ['numbers with brackets', '1) a\n2) b', '<ol><li>a</li><li>b</li></ol>'],
    ['numbers from seven', '7. a\n8. b', '<ol start="7"><li>a</li><li>b</li></ol>'],
    [
      'numbers that go on after code',
      '1. a\n\n   ```\n   x\n   ```\n\n2. b',
      '<ol><li><p>a</p><pre><code>x</code></pre></li><li><p>b</p></li></ol>',
    ],
    ['an item that goes on in the next line', '- a\n  b\n- c', '<ul><li>a\nb</li><li>c</li></ul>'],
    ['an item that goes on without spaces', '- a\nb', '<ul><li>a\nb</li></ul>'],
    ['items of paragraphs', '- a\n\n  b\n\n- c', '<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>'],
    [
      'tasks',
      '- [ ] a\n- [x] b\n- [X] c',
      `<ul><li class="task">${toDo}a</li><li class="task">${done}b</li><li class="task">${done}c</li></ul>`,
    ],
    ['a nested task', '- a\n  1. [ ] b', `<ul><li>a<ol><li class="task">${toDo}b</li></ol></li></ul>`],
    ['a box that is no task', '[ ] a', '<p>[ ] a</p>'],
    [
      'a table',
      '| a | b |\n|---|--:|\n| 1 | `2` |',
      '<div class="table"><table><thead><tr><th>a</th><th class="right">b</th></tr></thead><tbody><tr><td>1</td><td class="right"><code>2</code></td></tr></tbody></table></div>',
    ],
    [
      'a table with a pipe in a cell',
      'a|b\n-|:-:\n1\\|2|3',
      '<div class="table"><table><thead><tr><th>a</th><th class="center">b</th></tr></thead><tbody><tr><td>1|2</td><td class="center">3</td></tr></tbody></table></div>',
    ],
    ['pipes that are no table', 'a | b', '<p>a | b</p>'],
    ['lines of code', '```ts\nconst a = 1 < 2\n```', '<pre data-language="ts"><code>const a = 1 &lt; 2</code></pre>'],
    ['lines of code with tildes', '~~~\n```\n~~~', '<pre><code>```</code></pre>'],
    ['lines of code with four marks', '````md\n```\na\n```\n````', '<pre data-language="md"><code>```\na\n```</code></pre>'],
    ['lines of code without an end', '```\na', '<pre><code>a</code></pre>'],
    [
      'lines of code in a list',
      '- a\n  ```sh\n  b\n  ```\n- c',
      '<ul><li>a<pre data-language="sh"><code>b</code></pre></li><li>c</li></ul>',
    ],
    ['lines of code by spaces', '    a\n      b', '<pre><code>a\n  b</code></pre>'],
    ['a quotation', '> a\n> b\n>\n> c', '<blockquote><p>a\nb</p><p>c</p></blockquote>'],
    ['a quotation in a quotation', '> a\n>> b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
    ['a list in a quotation', '> - a\n> - b', '<blockquote><ul><li>a</li><li>b</li></ul></blockquote>'],
    ['a line', 'a\n\n---\n\nb', '<p>a</p><hr/><p>b</p>'],
    ['a link', '[a](https://a.example)', `<p>${link('https://a.example', 'a')}</p>`],
    ['a link with a title', '[a](https://a.example "So")', '<p><a href="https://a.example" title="So">a</a></p>'],
    [
      'a link of Trello',
      '[https://a.example/b](https://a.example/b "smartCard-inline")',
      '<p><a href="https://a.example/b" title="smartCard-inline">https://a.example/b</a></p>',
    ],
    [
      'a link by reference',
      '[a][1] and [b]\n\n[1]: https://a.example\n[b]: <https://b.example> (B)',
      `<p>${link('https://a.example', 'a')} and <a href="https://b.example" title="B">b</a></p>`,
    ],
    ['a link with brackets', '[a [b]](https://a.example/c_(d))', `<p>${link('https://a.example/c_(d)', 'a [b]')}</p>`],
    ['a link with markup', '[**a** `b`](https://a.example)', `<p>${link('https://a.example', '<strong>a</strong> <code>b</code>')}</p>`],
    ['an address', 'see https://a.example/b?c=d&e.', `<p>see ${link('https://a.example/b?c=d&amp;e')}.</p>`],
    ['an address in brackets', '(https://a.example)', `<p>(${link('https://a.example')})</p>`],
    ['an address in angles', '<https://a.example>', `<p>${link('https://a.example')}</p>`],
    ['an e-mail address', 'to a@b.example', `<p>to ${link('mailto:a@b.example', 'a@b.example')}</p>`],
    ['names of files', 'README.md, main.rs, a.example', '<p>README.md, main.rs, a.example</p>'],
    ['a link that leads nowhere from here', '[a](docs/a.md) [b](#c)', '<p>[a](docs/a.md) [b](#c)</p>'],
    [
      'a link that would run',
      '[a](javascript:alert(1)) <javascript:alert(1)> [b](data:text/html,x) [c](vbscript:x)',
      '<p>[a](javascript:alert(1)) javascript:alert(1) [b](data:text/html,x) [c](vbscript:x)</p>',
    ],
    ['a picture elsewhere, as a link', '![a](https://a.example/b.png)', `<p>${link('https://a.example/b.png', 'a')}</p>`],
    ['a picture elsewhere without words', '![](https://a.example/b.png)', `<p>${link('https://a.example/b.png')}</p>`],
    ['a picture elsewhere in a link', '[![a](https://a.example/b.svg)](https://a.example)', `<p>${link('https://a.example', 'a')}</p>`],
    [
      'a picture of the card',
      '![The plan](plan.png)',
      '<p><img src="/app/x/attachments/att_1/picture" alt="The plan" loading="lazy" decoding="async"/></p>',
    ],
    ['a picture that the card has not', '![a](other.png)', '<p>[a](other.png)</p>'],
    ['HTML, as text', '<b>a</b> <script>alert(1)</script>', '<p>&lt;b>a&lt;/b> &lt;script>alert(1)&lt;/script></p>'],
    [
      'HTML of more lines',
      '<details>\n<summary>a</summary>\n\n**b**\n\n</details>',
      '<p>&lt;details>\n&lt;summary>a&lt;/summary></p><p><strong>b</strong></p><p>&lt;/details></p>',
    ],
    ['a comment, which vanishes', '<!-- a -->\nb', '<p>b</p>'],
    ['a comment of a template', '## What\n\n<!--\nSay what.\n\n- [ ] nothing\n-->\n\nIt.', '<h4 class="level-2">What</h4><p>It.</p>'],
    ['a comment in a line', 'a <!-- b -->c', '<p>a c</p>'],
    ['a comment that text follows', '<!-- a\n\nb --> **c**\nd', '<p><strong>c</strong>\nd</p>'],
    ['a comment in a list', '- a\n  <!-- b -->\n- c', '<ul><li>a</li><li>c</li></ul>'],
    ['a comment in code', '`<!-- a -->`', '<p><code>&lt;!-- a --></code></p>'],
    ['a comment without an end', '<!-- a\n\nb', '<p>&lt;!-- a</p><p>b</p>'],
    ['characters by their names', '&amp; &copy; &#x41; &nope;', '<p>&amp; © A &amp;nope;</p>'],
    ['characters after a backslash', '\\*a\\* 1\\. \\`', '<p>*a* 1. `</p>'],
    ['a mention', `**@${ANA}**`, `<p><strong><bdi class="mention" title="${ANA}">@Ana</bdi></strong></p>`],
    ['a card', `after ${CARD}.`, `<p>after <a href="/app/x/${CARD}" title="${CARD}">Fix &lt;the> build</a>.</p>`],
    ['a board', BOARD, `<p><a href="/app/x/${BOARD}" title="${BOARD}">Spring</a></p>`],
    ['a card that the reader may not read', HIDDEN, `<p>${HIDDEN}</p>`],
    [
      'a card in code, in a link, in an address and in a word',
      `\`${CARD}\` [${CARD}](https://a.example) https://a.example/${CARD} x${CARD}`,
      `<p><code>${CARD}</code> ${link('https://a.example', CARD)} ${link(`https://a.example/${CARD}`)} x${CARD}</p>`,
    ],
  ])('%s', (_what, text, html) => {
    expect(render(text)).toBe(html)
  })

  test('every element with words has the direction of its words, and code is written from the left', () => {
    const html = renderToString(h(Fragment, null, createProse({})('# א\n\nב\n\n- ג\n\n|ד|\n|-|\n|ה|\n\n```\nו\n```')))
    expect(html.match(/<(?:h3|p|li|th|td|pre)\b[^>]*>/g)).toEqual([
      '<h3 dir="auto" class="level-1">',
      '<p dir="auto">',
      '<li dir="auto">',
      '<th dir="auto">',
      '<td dir="auto">',
      '<pre dir="ltr">',
    ])
  })
})

describe('texts that would delay a page', () => {
  const hostile: readonly (readonly [what: string, text: string])[] = [
    ['brackets', '['.repeat(50_000)],
    ['brackets in brackets', `${'['.repeat(20_000)}a${']'.repeat(20_000)}`],
    ['pictures', '!['.repeat(25_000)],
    ['emphasis that never ends', '*a_ '.repeat(12_000)],
    ['emphasis in emphasis', `${'*'.repeat(5000)}a${'*'.repeat(5000)}`],
    ['quotations in quotations', '>'.repeat(14_000)],
    ['lists in lists', '- + '.repeat(7_000)],
    ['lines', 'a\n'.repeat(25_000)],
    ['lines of an old Mac', 'a\r'.repeat(25_000)],
    ['comments without an end', '<!--'.repeat(12_000)],
    ['a table of many columns', `${'|a'.repeat(20_000)}|\n${'|-'.repeat(20_000)}|\n`],
    ['code without an end', Array.from({ length: 300 }, (_, i) => '`'.repeat(i)).join(' ')],
    ['links', '[a](http://a.example) '.repeat(4000)],
  ]
  test.each(hostile)('%s: every character is shown', (_what, text) => {
    const shown = renderToString(h(Fragment, null, createProse(known)(text))).replaceAll(/<[^>]*>|\s|`/g, '')
    expect(shown).toBe(
      text
        .replaceAll('>', '&gt;')
        .replaceAll('<', '&lt;')
        .replaceAll(/&gt;|\s|`/g, (one) => (one === '&gt;' ? '>' : '')),
    )
  })
})

describe('any text has only elements of Markdown, and links to the web', () => {
  const TAGS = 'p h3 h4 h5 h6 em strong del code pre ul ol li blockquote hr br a img div table thead tbody tr th td span bdi'.split(' ')
  const ATTRIBUTES = 'dir class href title rel src alt loading decoding start data-language tabindex role aria-label aria-hidden'.split(' ')

  /** The elements and attributes that a text must not have. */
  function forbiddenIn(text: string): readonly string[] {
    const html = renderToString(h(Fragment, null, createProse(known)(text)))
    const forbidden: string[] = []
    // Text has no "<" of its own, so what is left after each element is another element.
    for (const [, tag, attributes] of html.matchAll(/<\/?([^\s>/]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/g)) {
      if (!TAGS.includes(tag!)) forbidden.push(tag!)
      for (const [, name, value = ''] of attributes!.matchAll(/\s+([^\s=>]+)(?:="([^"]*)")?/g))
        if (
          !ATTRIBUTES.includes(name!) ||
          (['href', 'src'].includes(name!) && !/^(?:https?:\/\/|mailto:|\/app\/x\/(?:crd_|brd_|attachments\/))/i.test(value))
        )
          forbidden.push(`${name}=${value}`)
    }
    const opened = html.split('<').length - 1
    return opened === [...html.matchAll(/<[^<>]*>/g)].length ? forbidden : [...forbidden, 'half an element']
  }

  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    '<a href="javascript:alert(1)">a</a>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '<!--><img src=x onerror=alert(1)>-->',
    '<!-- --!><script>alert(1)</script> -->',
    '<![CDATA[<script>alert(1)</script>]]>',
    '<?php x ?><b>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a]( javascript:alert(1))',
    '[a](java\tscript:alert(1))',
    '[a](java\nscript:alert(1))',
    '[a](&#x6A;avascript:alert(1))',
    '[a](\\javascript:alert(1))',
    '[a](<javascript:alert(1)>)',
    '[a](data:text/html;base64,PHNjcmlwdD4=)',
    '[a](vbscript:x)',
    '[a](file:///etc/passwd)',
    '[a](//evil.example)',
    '[a](/app/x/do/boards.delete)',
    '[a](https://a.example "\\" onmouseover=\\"alert(1)")',
    '[a](https://a.example \'x" onclick="alert(1)\')',
    '[a](https://a.example/"onmouseover="alert(1))',
    '![a](javascript:alert(1))',
    '![" onerror="alert(1)](plan.png)',
    '![a](plan.png "\\" onload=\\"alert(1)")',
    '[a][b]\n\n[b]: javascript:alert(1)',
    '<javascript:alert(1)>',
    '<data:text/html,x>',
    '```"onclick="alert(1)\nx\n```',
    '``` <script>\nx\n```',
    '|<script>|\n|-|\n|<img onerror=x>|',
    '# <script>alert(1)</script>',
    '- [x] <script>alert(1)</script>',
    `@${ANA}<script>alert(1)</script>${CARD}`,
  ])('%s', (text) => {
    expect(forbiddenIn(text)).toEqual([])
  })

  test('any pieces of markup together', () => {
    const pieces =
      '< > " \' & ` ``` * ** _ ~~ [ ] ( ) ![ ]( <!-- --> :// http:// javascript: data: mailto: # - + 1. > | |- \\ &#x6A; on= x= a'.split(
        ' ',
      )
    const text = fc.array(fc.constantFrom(...pieces, '\n', '\n\n', ' ', '    ', '\t', '\r', '\0', CARD, `@${ANA}`, 'plan.png'), {
      maxLength: 30,
    })
    fc.assert(
      fc.property(text, (parts) => {
        expect(forbiddenIn(parts.join(''))).toEqual([])
      }),
      runs(3000),
    )
  })
})

describe('words alone', () => {
  test.each([
    ['paragraphs and a list', 'Which **one**?\n\n- `a`\n- [b](https://b.example)', 'Which one? a b'],
    ['markup in a word', 'a**b**c', 'abc'],
    ['a picture and code', '![plan](x.png)\n```\ncode\n```', 'plan code'],
    ['a comment', 'a <!-- b --> c', 'a c'],
    [
      'a mention, and an id in code and in an address',
      `@${ANA} \`@${ANA}\` https://a.example/@${ANA}`,
      `@Ana @${ANA} https://a.example/@${ANA}`,
    ],
  ])('of %s', (_what, text, words) => {
    expect(plainWords(text, known.nameOf!)).toBe(words)
  })
})

test('an address alone is a link, and any other text is text', () => {
  const shown = ['https://a.example/1', 'PROJ-1', 'javascript:alert(1)', 'https://a b'].map((text) =>
    renderToString(h('p', null, linkOrText(text))),
  )
  expect(shown[0]).toContain('<a href="https://a.example/1"')
  expect(shown.slice(1).join('')).not.toContain('<a')
})

// The library decides what is Markdown: its own output must be what the specification states.
describe('CommonMark', () => {
  interface Example {
    readonly number: number
    readonly markdown: string
    readonly html: string
  }
  const tests = examplesOfSpecification as readonly Example[]
  const plain = new MarkdownIt('commonmark')
  const tabs = (text: string) => text.replaceAll('→', '\t')
  const hasHtml = (tokens: readonly Token[]): boolean =>
    tokens.some(({ type, children }) => type.startsWith('html_') || hasHtml(children ?? []))
  const examples = tests.filter(({ markdown }) => !hasHtml(plain.parse(tabs(markdown), {})))
  /** Examples of texts that GitHub makes links of, too. */
  const LINKED = [602, 608, 611, 612]
  /** The element of an empty quotation, in one line. */
  const withLines = (html: string) => html.replaceAll('<blockquote></blockquote>', '<blockquote>\n</blockquote>')

  test('every example without HTML is read as the specification says', () => {
    const wrong = examples.filter(({ markdown, html }) => {
      const shown = plain.renderer.render(parseMarkdown(tabs(markdown)), plain.options, {})
      return withLines(shown) !== tabs(html)
    })
    expect(examples.length).toBeGreaterThan(550)
    expect(wrong.map(({ number }) => number)).toEqual(LINKED)
  })
})
