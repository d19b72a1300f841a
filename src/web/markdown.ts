import { h, type ComponentChild, type VNode } from 'preact'
import { createReader, isAutolink, parseInline, parseMarkdown, type Token } from '../model/markdown.ts'
import { splitAtMentions, type NameOf } from '../resources/notices/mentions.ts'

/** What the texts of users name, for whoever reads them. What is not known is shown as text. */
export interface Known {
  /** the members of the workspace */
  readonly nameOf?: NameOf
  /** a card or a board that the reader may read, by its id */
  linkOf?(id: string): { readonly href: string; readonly title: string } | undefined
  /** the path of a picture, by the name or the address of an attachment */
  pictureOf?(address: string): string | undefined
}

/** Words and names in turns of a text that is shown without markup. */
const MOST_NAMES = 1000

/** Where links of users lead. */
const LINK = /^(?:https?:\/\/|mailto:)/i
/** The id of a card or a board that is no part of a word. */
export const REFERENCE = /(?<![\w@])((?:crd|brd)_[0-9a-hjkmnp-tv-z]{20})(?!\w)/g
const TASK = /^\[([ xX])\] /

/** How a heading is shown. */
type Heading = (source: string, level: number, content: ComponentChild[]) => VNode

/** Renders what users have written, for one page, in the order of the calls. */
export function createProse(known: Known): (text: string) => VNode[] {
  const read = createReader()
  return (text) => {
    const tokens = read(text)
    return tokens === undefined ? asText(text, known) : (render({ tokens, at: 0 }, { known, heading: lowHeading }) as VNode[])
  }
}

/** A text without markup still has names, unless it has more than a person writes. */
function asText(text: string, { nameOf }: Known): VNode[] {
  const isNamed = nameOf !== undefined && splitAtMentions(text).length < MOST_NAMES
  return [h('p', { dir: 'auto' }, isNamed ? wordsIn(text, { known: { nameOf }, heading: lowHeading }) : text)]
}

/** Renders Markdown of the service itself. */
export function markdown(text: string, heading: Heading = lowHeading): VNode[] {
  return render({ tokens: parseMarkdown(text), at: 0 }, { known: {}, heading }) as VNode[]
}

/** Renders a sentence of the service itself. */
export function inline(text: string): ComponentChild[] {
  return render({ tokens: parseInline(text), at: 0 }, { known: {}, heading: lowHeading })
}

/** A text of a user that may be an address. */
export function linkOrText(text: string): ComponentChild {
  return /^https?:\/\/\S+$/i.test(text) ? h('a', { href: text, rel: 'noopener noreferrer nofollow' }, text) : text
}

/** The words of Markdown in one line, without what marks them up: for a line that has no elements. */
export function plainWords(text: string, nameOf: NameOf = () => undefined): string {
  const tokens = createReader()(text)
  if (tokens === undefined) return text
  const named = (part: string, i: number) => (i % 2 === 0 ? part : `@${nameOf(part) ?? part}`)
  const words = ({ type, content, children, block }: Token, before?: Token): string => {
    if (type === 'inline') return children!.map((child, i) => words(child, children![i - 1])).join('')
    if (type === 'text' && !(before !== undefined && isAutolink(before))) return splitAtMentions(content).map(named).join('')
    return content === '' && (block || type.endsWith('break')) ? ' ' : content
  }
  return tokens
    .map((token) => words(token))
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** A heading in a text of a user: the page has those above it. */
const lowHeading: Heading = (_source, level, content) => h(`h${Math.min(level + 2, 6)}`, { dir: 'auto', class: `level-${level}` }, content)

/** What the elements of a text are made with. */
interface Context {
  readonly known: Known
  readonly heading: Heading
  /** the link that they are in: it has no other link in it, and an address has no names */
  readonly link?: 'label' | 'address'
}

/** Tokens, and how many of them were read. */
interface Reading {
  readonly tokens: readonly Token[]
  at: number
}

/** Renders what comes next, to the end of the element that it is in. */
function render(reading: Reading, context: Context): ComponentChild[] {
  const content: ComponentChild[] = []
  for (let token = reading.tokens[reading.at]; token !== undefined; token = reading.tokens[reading.at]) {
    reading.at++
    if (token.nesting === -1) break
    content.push(...(token.nesting === 1 ? elementOf(token, reading, context) : leafOf(token, context)))
  }
  return content
}

/** Renders an element; a paragraph of a list without empty lines is only its content. */
function elementOf(token: Token, reading: Reading, context: Context): ComponentChild[] {
  const { type, tag } = token
  if (type === 'link_open') {
    const content = render(reading, { ...context, link: isAutolink(token) ? 'address' : 'label' })
    return linkTo(String(token.attrGet('href')), content, token)
  }
  if (type === 'heading_open') {
    const source = reading.tokens[reading.at]!.content
    return [context.heading(source, Number(tag.slice(1)), render(reading, context))]
  }
  const task = type === 'list_item_open' ? takeTask(reading.tokens[reading.at + 1]) : undefined
  const content = render(reading, context)
  switch (type) {
    case 'paragraph_open':
      return token.hidden ? content : [h('p', { dir: 'auto' }, content)]
    case 'list_item_open':
      return [task === undefined ? h('li', { dir: 'auto' }, content) : h('li', { dir: 'auto', class: 'task' }, [...task, ...content])]
    case 'ordered_list_open':
      return [h('ol', { start: token.attrGet('start') ?? undefined } as object, content)]
    case 'table_open':
      // A table that is wider than its text is scrolled by itself, also with keys.
      return [h('div', { class: 'table', tabIndex: 0, role: 'group', 'aria-label': 'Table' }, h('table', null, content))]
    case 'th_open':
    case 'td_open':
      return [h(tag, { dir: 'auto', class: /\w+$/.exec(String(token.attrGet('style') ?? ''))?.[0] }, content)]
    default:
      return [h(tag === 's' ? 'del' : tag, null, content)]
  }
}

/** Takes the box from the beginning of an item of a list, and returns what shows it; undefined: it has none. */
function takeTask(content: Token | undefined): ComponentChild[] | undefined {
  const text = content?.children?.[0]
  const task = text?.type === 'text' ? TASK.exec(text.content) : null
  if (task === null || text === undefined) return undefined
  text.content = text.content.slice(task[0].length)
  const isDone = task[1] !== ' '
  // With a direction of its own, it does not decide the direction of the item.
  return [
    h('span', { class: 'unseen', dir: 'ltr' }, isDone ? 'done: ' : 'to do: '),
    h('span', { 'aria-hidden': 'true' }, isDone ? '☑' : '☐'),
    ' ',
  ]
}

function linkTo(href: string, content: ComponentChild[], token: Token): ComponentChild[] {
  // An address that leads nowhere from here is text, as it was written.
  if (!LINK.test(href)) return isAutolink(token) ? content : ['[', ...content, `](${href})`]
  const title = token.attrGet('title')
  return [h('a', { href, title: title ?? undefined, rel: 'noopener noreferrer nofollow' } as object, content)]
}

function leafOf(token: Token, context: Context): ComponentChild[] {
  const { type, content } = token
  switch (type) {
    case 'inline':
      return render({ tokens: token.children!, at: 0 }, context)
    case 'text':
      return context.link === 'address' ? [content] : wordsIn(content, context)
    case 'softbreak':
      return ['\n']
    case 'code_inline':
      return [h('code', { dir: 'auto' }, content)]
    case 'fence':
    case 'code_block': {
      const language = token.info.trim().split(/\s/)[0]
      return [h('pre', { dir: 'ltr', 'data-language': language || undefined } as object, h('code', null, content.replace(/\n$/, '')))]
    }
    case 'image':
      return imageOf(token, context)
    default:
      return [h(token.tag, null)]
  }
}

/** A picture of the card is shown. Any other is a link: no page makes a browser ask another server for something. */
function imageOf(token: Token, { known, link }: Context): ComponentChild[] {
  const address = String(token.attrGet('src'))
  const words = token.content
  const picture = known.pictureOf?.(address)
  if (picture !== undefined) return [h('img', { src: picture, alt: words, loading: 'lazy', decoding: 'async' })]
  return link !== undefined ? [words === '' ? address : words] : linkTo(address, [words === '' ? address : words], token)
}

/** Words with names in the place of the people, cards and boards that they name. */
function wordsIn(text: string, { known, link }: Context): ComponentChild[] {
  return splitAtMentions(text).flatMap((part, i) => {
    if (i % 2 === 0) return link !== undefined || known.linkOf === undefined ? part : referencesIn(part, known)
    const name = known.nameOf?.(part)
    return name === undefined ? `@${part}` : h('bdi', { class: 'mention', title: part }, `@${name}`)
  })
}

function referencesIn(text: string, known: Known): ComponentChild[] {
  return text.split(REFERENCE).map((part, i) => {
    const link = i % 2 === 1 ? known.linkOf!(part) : undefined
    return link === undefined ? part : h('a', { href: link.href, title: part, dir: 'auto' }, link.title)
  })
}
