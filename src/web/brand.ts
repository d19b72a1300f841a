import type { VNode } from 'preact'
import { html } from './html.ts'

const SHAPES =
  '<rect x="2" y="3" width="8" height="26" rx="2.5" fill="#3350c4"/><rect x="12" y="3" width="8" height="17" rx="2.5" fill="#5b78ea"/><rect x="22" y="3" width="8" height="21" rx="2.5" fill="#9db2ff"/>'

/** The icon of the service: three lanes of a board. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${SHAPES}</svg>`

/** The icon in the header, beside the name. */
export function renderBrand(): VNode {
  return html`<svg viewBox="0 0 32 32" aria-hidden="true" dangerouslySetInnerHTML=${{ __html: SHAPES }}></svg>`
}

/** A circle that is half dark, for the choice of the theme. */
export function renderThemeSign(): VNode {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <circle cx="8" cy="8" r="6" />
    <path d="M8 2a6 6 0 0 1 0 12Z" fill="currentColor" />
  </svg>`
}

/** A magnifying glass. */
export function renderSearchSign(): VNode {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3.5 3.5" />
  </svg>`
}

/**
 * A circle with the initials of a person.
 * @param name what stands beside it, or is said another way
 */
export function renderAvatar(name: string): VNode {
  return html`<span class="avatar" dir="auto" aria-hidden="true">${initialsOf(name)}</span>`
}

/** The first letters of the first and the last word of a name, or the first two of a single word. */
export function initialsOf(name: string): string {
  const words = name
    .replace(/@.*$/s, '')
    .split(/[\s._-]+/)
    .filter((word) => word !== '')
  const [first = '?', last] = [words[0], words.length > 1 ? words.at(-1) : undefined]
  const letters = (text: string, count: number) => [...text].slice(0, count).join('')
  return last === undefined ? letters(first, 2) : letters(first, 1) + letters(last, 1)
}
