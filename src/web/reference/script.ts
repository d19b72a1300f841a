import { copyScript } from '../script.ts'
import { findOperations } from './search.ts'

/** Opens the list of pages on a wide screen, for browsers whose style sheet cannot, and scrolls it to the present page. */
const sidebarScript = `
for (const sidebar of document.querySelectorAll('.sidebar')) {
  const current = sidebar.querySelector('li [aria-current]')
  if (!matchMedia('(min-width: 60rem)').matches) continue
  sidebar.firstElementChild.open = true
  if (current !== null) sidebar.scrollTop = current.offsetTop - sidebar.clientHeight / 2
}
`

/** How many operations are shown while a person types. The page of the form has all of them. */
const SHOWN = 8

/**
 * Shows what a search finds while a person types: links, through which the arrow keys lead. Enter in the field submits the form. The
 * operations are found by the function that the server finds them by.
 */
const searchScript = `
const findOperations = ${findOperations.toString()}
for (const form of document.querySelectorAll('form.search')) {
  const field = form.querySelector('input')
  const hits = form.querySelector('.hits')
  const status = form.querySelector('[role=status]')
  form.querySelector('kbd').hidden = false
  let index
  const load = () => (index ??= fetch('/docs/assets/search.json').then((response) => response.json()))
  const element = (name, text, className = '') => Object.assign(document.createElement(name), { textContent: text, className })
  const link = (href, ...content) => {
    const item = document.createElement('li')
    const anchor = item.appendChild(element('a', ''))
    anchor.href = href
    anchor.append(...content)
    return item
  }
  const toItem = ({ entry: { id, method, path, summary }, names }) => {
    const request = element('span', '', 'request')
    request.append(element('span', method, 'method ' + method.toLowerCase()), ' ', element('code', path))
    const why = names.length === 0 ? summary : 'Matches ' + names.slice(0, 5).join(', ')
    return link('/docs/' + id, element('strong', id), ' ', request, ' ', element('span', why, 'hint'))
  }
  const hide = () => (hits.hidden = true)
  const show = async () => {
    const query = field.value.trim()
    const entries = await load()
    // The person has typed on.
    if (query !== field.value.trim()) return
    const found = findOperations(entries, query)
    const list = document.createElement('ul')
    list.append(...found.slice(0, ${SHOWN}).map(toItem))
    if (found.length > ${SHOWN}) list.append(link('/docs?q=' + encodeURIComponent(query), 'All ' + found.length + ' operations'))
    hits.replaceChildren(found.length === 0 ? element('p', 'No operation matches.', 'hint') : list)
    hits.hidden = query === ''
    status.textContent = query === '' ? '' : found.length + (found.length === 1 ? ' operation' : ' operations')
  }
  // Without the index, the form still works.
  const update = () => show().catch(() => (index = undefined))
  field.addEventListener('input', update)
  field.addEventListener('focus', update)
  form.addEventListener('keydown', (event) => {
    const links = hits.hidden ? [] : [...hits.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    if (event.key === 'Escape') {
      field.focus()
      hide()
    } else if (event.key === 'ArrowDown') (links[at + 1] ?? links[at])?.focus()
    else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus()
    else return
    event.preventDefault()
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget !== null && !form.contains(relatedTarget)) hide()
  })
  addEventListener('pointerdown', ({ target }) => {
    if (!form.contains(target)) hide()
  })
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select')) return
    event.preventDefault()
    field.focus()
    field.select()
  })
}
`

/**
 * Sends the requests of "Try it". The token is only in its input, is not stored, and is removed when the person leaves
 * the page. A response is shown as text.
 */
const tryScript = `
for (const section of document.querySelectorAll('[data-try]')) {
  section.hidden = false
  const form = section.querySelector('form')
  const output = section.querySelector('[data-response]')
  const token = form.querySelector('#token')
  const body = form.querySelector('#try-body')
  addEventListener('pagehide', () => {
    token.value = ''
    output.textContent = ''
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    let path = form.dataset.path
    const query = new URLSearchParams()
    for (const input of form.querySelectorAll('[data-in]')) {
      const { name } = input.dataset
      if (input.dataset.in === 'path') path = path.replace('{' + name + '}', encodeURIComponent(input.value.trim()))
      else if (input.value !== '') query.set(name, input.value)
    }
    const search = query.size === 0 ? '' : '?' + query
    const headers = { authorization: 'Bearer ' + token.value.trim() }
    if (body !== null) headers['content-type'] = 'application/json'
    const init = { method: form.dataset.method, headers, credentials: 'omit', cache: 'no-store' }
    if (body !== null) init.body = body.value
    output.hidden = false
    output.textContent = 'Sending …'
    try {
      const response = await fetch(path + search, init)
      const text = await response.text()
      let shown = text
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2)
      } catch {}
      const etag = response.headers.get('etag')
      output.textContent = response.status + ' ' + response.statusText + (etag === null ? '' : '\\nETag: ' + etag) + '\\n\\n' + shown
    } catch (error) {
      output.textContent = 'The request failed: ' + error.message
    }
  })
}
`

/** The script of the reference. */
export const referenceScript = `'use strict'\n${copyScript}${sidebarScript}${searchScript}${tryScript}`
