import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import { html } from '../html.ts'

/** A filter with its choices. */
interface Filter {
  readonly name: string
  readonly label: string
  readonly chosen: string
  /** what is chosen when it filters nothing; default: nothing */
  readonly unset?: string
  readonly choices: readonly (readonly [value: string, text: string])[]
}

/** The form that searches and filters cards. */
interface SearchForm {
  readonly action: string
  readonly q?: string
  /** default: that texts of cards are searched */
  readonly label?: string
  /** the view that it keeps */
  readonly view?: string
  readonly filters?: readonly Filter[]
  /** whether the script applies a choice at once, and keeps the form as it is */
  readonly isLive?: boolean
}

/**
 * The form that searches and filters cards. It works without JavaScript. In a narrow window it stands behind a button, which says
 * how many filters are active.
 */
export function renderSearchForm(form: SearchForm): VNode {
  const { action, q = '', label = 'Search in title and description', view, filters = [], isLive = false } = form
  const content = html`<form class="board-filters" method="get" action=${action} data-filters=${isLive || undefined}>
    ${view !== undefined && html`<input type="hidden" name="view" value=${view} />`}
    <label class="board-filter name"
      ><span class="unseen">${label}</span>
      <input type="search" name="q" value=${q} placeholder="Search cards" maxlength=${limits.searchText} autocomplete="off" data-search />
    </label>
    ${filters.map(
      ({ name, label: text, chosen, choices }) =>
        html`<label class="board-filter"
          ><span class="unseen">${text}</span>
          <select name=${name} class=${isLive && chosen !== '' ? 'chosen' : ''}>
            ${choices.map(([value, of]) => html`<option value=${value} selected=${value === chosen}>${of}</option>`)}
          </select></label
        >`,
    )}
    ${isLive ? html`<button data-apply>Apply</button>` : html`<button>Search</button>`}
  </form>`
  const active = Number(q !== '') + filters.filter(({ chosen, unset = '' }) => chosen !== unset).length
  return html`<search id=${isLive ? 'filter-box' : undefined} data-keep=${isLive || undefined}>
    ${
      filters.length === 0
        ? content
        : html`<details class="filters">
            <summary>Filters <span class="active" data-active>${active > 0 ? `${active} active` : ''}</span></summary>
            ${content}
          </details>`
    }
  </search>`
}
