import type { VNode } from 'preact'
import { html } from './html.ts'

/** Something that is called by its name in a phrase. Its id is in the title of the element. */
export interface Named {
  readonly id: string
  /** as it is shown, with quotation marks where it has some */
  readonly name: string
  /** the path of its page; undefined: it has none, or is not there any more */
  readonly path?: string | undefined
}

/** What was done, in words that follow the name of who did it. */
export type Phrase = readonly (string | Named)[]

export function quoted(id: string, name: string, path?: string): Named {
  return { id, name: `“${name}”`, path }
}

/** Several names or phrases with commas and “and” between them. */
export function listOf<Part>(parts: readonly Part[]): readonly (string | Part)[] {
  return parts.flatMap((part, i) => (i === 0 ? [part] : [i === parts.length - 1 ? ' and ' : ', ', part]))
}

function textOf(phrase: Phrase): string {
  return phrase.map((part) => (typeof part === 'string' ? part : `${part.id} ${part.name}`)).join('')
}

/** Phrases as one, each once. */
export function joined(phrases: readonly Phrase[]): Phrase {
  const different = new Map(phrases.map((phrase) => [textOf(phrase), phrase]))
  return listOf([...different.values()]).flatMap((part) => part)
}

export function renderPhrase(phrase: Phrase): readonly (string | VNode)[] {
  return phrase.map((part) => {
    if (typeof part === 'string') return part
    const { id, name, path } = part
    return path === undefined ? html`<span dir="auto" title=${id}>${name}</span>` : html`<a dir="auto" href=${path} title=${id}>${name}</a>`
  })
}
