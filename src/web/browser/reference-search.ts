import { createElement } from './create-element.ts'
import { findOperations, type SearchEntry, type SearchHit } from '../reference/find-operations.ts'

/** How many operations are shown while a person types. The page of the form has all of them. */
const SHOWN = 8

/**
 * Shows what a search finds while a person types: links, through which the arrow keys lead. Enter in the field submits the form. The
 * operations are found by the function that the server finds them by.
 */
export function showSearch(form: HTMLFormElement): void {
  const field = form.querySelector('input')!
  const hits = form.querySelector<HTMLElement>('.hits')!
  const status = form.querySelector('[role=status]')!
  form.querySelector('kbd')!.hidden = false
  let index: Promise<readonly SearchEntry[]> | undefined
  const show = async () => {
    const query = field.value.trim()
    const entries = await (index ??= fetch(`${form.action}/assets/search.json`).then((response) => response.json()))
    // The person has typed on.
    if (query !== field.value.trim()) return
    const found = findOperations(entries, query)
    hits.replaceChildren(
      found.length === 0 ? createElement('p', { className: 'hint' }, 'No operation matches.') : listOf(form.action, found, query),
    )
    hits.hidden = query === ''
    status.textContent = query === '' ? '' : `${found.length} ${found.length === 1 ? 'operation' : 'operations'}`
  }
  // Without the index, the form still works.
  const update = () => show().catch(() => (index = undefined))
  field.addEventListener('input', update)
  field.addEventListener('focus', update)
  form.addEventListener('keydown', (event) => {
    const links = hits.hidden ? [] : [...hits.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    if (event.key === 'Escape') {
      field.focus()
      hits.hidden = true
    } else if (event.key === 'ArrowDown') (links[at + 1] ?? links[at])?.focus()
    else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus()
    else return
    event.preventDefault()
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget !== null && !form.contains(relatedTarget as Node)) hits.hidden = true
  })
  addEventListener('pointerdown', ({ target }) => {
    if (!form.contains(target as Node)) hits.hidden = true
  })
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
    if ((event.target as Element).closest('input, textarea, select')) return
    event.preventDefault()
    field.focus()
    field.select()
  })
}

/** @param docs the address of the reference */
function listOf(docs: string, found: readonly SearchHit[], query: string): HTMLElement {
  const list = createElement('ul', {}, ...found.slice(0, SHOWN).map((hit) => itemOf(docs, hit)))
  if (found.length > SHOWN) list.append(link(`${docs}?q=${encodeURIComponent(query)}`, `All ${found.length} operations`))
  return list
}

function itemOf(docs: string, { entry: { id, method, path, summary }, names }: SearchHit): HTMLElement {
  const name = createElement('span', { className: `method ${method.toLowerCase()}` }, method)
  const request = createElement('span', { className: 'request' }, name, ' ', createElement('code', {}, path))
  const why = names.length === 0 ? summary : `Matches ${names.slice(0, 5).join(', ')}`
  return link(`${docs}/${id}`, createElement('strong', {}, id), ' ', request, ' ', createElement('span', { className: 'hint' }, why))
}

function link(href: string, ...content: readonly (string | Node)[]): HTMLElement {
  return createElement('li', {}, createElement('a', { href }, ...content))
}
