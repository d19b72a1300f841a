import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'

const WEB = fileURLToPath(new URL('../../src/web', import.meta.url))
/** Elements that stand in a line of text. */
const INLINE = /^<\/?(a|b|i|em|strong|code|span|time|kbd)[\s>]/
/** What stands for a value of a template, and for one that is a literal, such as a space. */
const [VALUE, LITERAL] = ['\uE000', '\uE001']
/** What a template is read as: tags, values, and the text between them. */
const PARTS = /<(?:[^<>"']|"[^"]*"|'[^']*')*>|[\uE000\uE001]|[^<\uE000\uE001]+/g

interface Quasi {
  readonly value: { readonly cooked: string }
}

/** The `html` templates of a source, without their values. */
function templatesOf(source: string): string[] {
  const found: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) return node.forEach(visit)
    const { type, tag, quasi } = node as {
      type?: string
      tag?: { name?: string }
      quasi?: { quasis: Quasi[]; expressions: { type: string }[] }
    }
    if (type === 'TaggedTemplateExpression' && tag?.name === 'html')
      found.push(quasi!.quasis.map(({ value }, i) => value.cooked + signOf(quasi!.expressions[i]?.type)).join(''))
    Object.values(node).forEach(visit)
  }
  visit(parseAst(source, { lang: 'ts' }).body)
  return found
}

function signOf(expression: string | undefined): string {
  return expression === undefined ? '' : expression === 'Literal' ? LITERAL! : VALUE!
}

/** Texts that htm joins to what precedes or follows them on another line, without the white space between. */
function joinedTexts(template: string): string[] {
  const parts = template.match(PARTS) ?? []
  const joins = (part: string | undefined, isClosing: boolean) =>
    part !== undefined && (part === VALUE || (INLINE.test(part) && part.startsWith('</') === isClosing))
  return parts.filter((text, i) => {
    if (/^[<\uE000\uE001]/.test(text) || text.trim() === '') return false
    return (/\n\s*$/.test(text) && joins(parts[i + 1], false)) || (/^\s*\n/.test(text) && joins(parts[i - 1], true))
  })
}

test('no template of a page loses the space between a text and what follows on the next line', () => {
  const found = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) =>
      templatesOf(readFileSync(join(WEB, file), 'utf8')).flatMap((template) => joinedTexts(template).map((text) => [file, text.trim()])),
    )
  expect(found).toEqual([])
})

test.each([
  ['`<p>changed\n ${day}</p>`', ['changed']],
  ['`<p>with\n <a href=${path}>a token</a></p>`', ['with']],
  ['`<p>${day}\n by her</p>`', ['by her']],
  ["`<p>with${' '}\n <a href='/'>a token</a></p>`", []],
  ['`<p>\n It is so.\n </p>`', []],
])('a space is missing in %s', (template, missing) => {
  const [found] = templatesOf(`const page = html${template}`)
  expect(joinedTexts(found!).map((text) => text.trim())).toEqual(missing)
})
