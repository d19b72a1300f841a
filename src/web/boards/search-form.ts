import type { VNode } from 'preact'
import { limits } from '../../model/limits.ts'
import { html } from '../html.ts'

/** A filter with its choices. */
interface Filter {
  readonly name: string
  readonly label: string
  /** what is chosen; a list: there may be several */
  readonly chosen: string | readonly string[]
  /** what is chosen when it filters nothing; default: nothing */
  readonly unset?: string
  readonly choices: readonly (readonly [value: string, text: string])[]
}

/** The form that searches and filters cards. */
interface SearchForm {
  readonly action: string
  readonly q?: string
  /** default: that texts of cards are searched */
  readonly label?: unknown
  /** the view that it keeps */
  readonly view?: string
  readonly filters?: readonly Filter[]
  /** whether the script applies a choice at once, and keeps the form as it is */
  readonly isLive?: boolean
}

/** The form that searches and filters cards. It works without JavaScript. The filters stand behind a button, which says how many are active. */
export function renderSearchForm(form: SearchForm): VNode {
  const { action, q = '', label = 'Search in title and description', view, filters = [], isLive = false } = form
  const active = filters.filter(({ chosen, unset = '' }) => chosen.length > 0 && chosen !== unset).length
  return html`<search id=${isLive ? 'filter-box' : undefined} data-keep=${isLive || undefined}>
    <form class="board-filters" method="get" action=${action} data-filters=${isLive || undefined}>
      ${view !== undefined && html`<input type="hidden" name="view" value=${view} />`}
      <label class="board-filter name"
        ><span class="unseen">${label}</span>
        <input
          type="search"
          name="q"
          dir="auto"
          value=${q}
          placeholder="Search cards"
          maxlength=${limits.searchText}
          autocomplete="off"
          data-search
        />
      </label>
      ${!isLive && html`<button>Search</button>`}
      ${
        filters.length > 0 &&
        html`<details class="filters" data-menu>
          <summary>Filters <span class="active" data-active>${active > 0 ? `${active} active` : ''}</span></summary>
          <div>
            ${filters.map((filter) => (Array.isArray(filter.chosen) ? renderBoxes(filter, filter.chosen) : renderSelect(filter)))}
            <button data-apply=${isLive || undefined}>Apply</button>
          </div>
        </details>`
      }
    </form>
  </search>`
}

function renderSelect({ name, label, chosen, choices }: Filter): VNode {
  return html`<label class="board-filter"
    >${label}
    <select name=${name}>
      ${choices.map(([value, of]) => html`<option value=${value} selected=${value === chosen}>${of}</option>`)}
    </select></label
  >` as VNode
}

/** A box for each of the things that a card may have one of. */
function renderBoxes({ name, label, choices }: Filter, chosen: readonly string[]): VNode {
  return html`<fieldset class="boxes">
    <legend>${label}</legend>
    ${choices.map(
      ([value, of]) =>
        html`<label><input type="checkbox" name=${name} value=${value} checked=${chosen.includes(value)} /><bdi>${of}</bdi></label>`,
    )}
  </fieldset>` as VNode
}
