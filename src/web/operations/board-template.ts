import type { VNode } from 'preact'
import { html } from '../html.ts'

/** What a new board begins with: value → its name and its columns. */
const templates: Readonly<Record<string, { readonly name: string; readonly columns: readonly object[] }>> = {
  columns: {
    name: 'Four columns: To do, Doing, Review, Done',
    columns: [{ name: 'To do' }, { name: 'Doing' }, { name: 'Review' }, { name: 'Done', completes: true }],
  },
  empty: { name: 'Empty', columns: [] },
}

/** The columns of a board that a form creates, as operations of a batch. */
export function columnsOf(form: URLSearchParams): readonly object[] {
  const { columns = [] } = templates[form.get('template') ?? ''] ?? {}
  return columns.map((body) => ({ operation: 'columns.create', body }))
}

/**
 * The choice of a new board's initial columns.
 * @param given the values in the form
 */
export function renderTemplates(given: URLSearchParams): VNode {
  return html`<div class="field">
    <label for="template">Begin with</label>
    <select id="template" name="template">
      ${Object.entries(templates).map(([value, { name }]) => html`<option value=${value} selected=${value === given.get('template')}>${name}</option>`)}
    </select>
  </div>`
}
