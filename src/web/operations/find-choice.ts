import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import { html } from '../html.ts'
import type { Choices } from './place.ts'

/**
 * A search in what a field of a form offers. It leads to the same form.
 * @param kept the fields that the address of the form keeps
 * @param q the words of the search; '': everything
 */
export function renderFind(kept: Readonly<Record<string, string | null>>, q: string, found: Choices): VNode {
  return html`<search>
    <form class="inline add" method="get">
      ${Object.entries(kept).map(([key, value]) => html`<input type="hidden" name=${key} value=${value} />`)}
      <input
        type="search"
        name="q"
        value=${q}
        maxlength=${limits.searchText}
        aria-label="Search the cards of the board"
        placeholder="Search cards"
      />
      <button>Search</button>
    </form>
    ${found.length === 0 && html`<p class="hint" role="status">No other card here has “${q}” in its title or description.</p>`}
  </search>` as VNode
}
