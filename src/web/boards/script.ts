/**
 * Makes the pages of boards live. Without it they work, and are up to date when they are loaded. It fetches the page again when something
 * has changed, and puts what differs in its place, so that focus and scrolling stay.
 */
export const boardsScript = `'use strict'
const root = document.querySelector('[data-events]')
const say = (text) => (document.querySelector('[data-announcement]').textContent = text)
const HIGHLIGHT = 8000
const highlights = new Map()

// Puts what differs in its place. The children of an element that merges have ids, by which they keep their identity: focus, scrolling and
// loaded images stay. Other elements are replaced as a whole.
function merge(old, next) {
  if (old.hasAttribute('data-keep') || old.isEqualNode(next)) return
  if (!old.hasAttribute('data-merge') || old.tagName !== next.tagName) {
    if (old.tagName === 'DETAILS') next.open = old.open
    return old.replaceWith(next)
  }
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  const known = new Map([...old.children].map((child) => [child.id, child]))
  let place = old.firstElementChild
  for (const child of [...next.children]) {
    const own = known.get(child.id)
    known.delete(child.id)
    if (own === undefined) old.insertBefore(child, place)
    else {
      if (own === place) place = place.nextElementSibling
      else old.insertBefore(own, place)
      merge(own, child)
    }
  }
  for (const gone of known.values()) gone.remove()
}

let running
let again = false
async function refresh(from = location.href) {
  if (running !== undefined) {
    again = true
    return running
  }
  running = (async () => {
    const response = await fetch(from, { headers: { accept: 'text/html' } })
    if (response.redirected && new URL(response.url).pathname !== new URL(from).pathname) return location.assign(response.url)
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const next = page.querySelector('[data-events]')
    if (next === null) return location.reload()
    const focused = document.activeElement === null ? null : document.activeElement.closest('[id]')
    clearHighlights()
    merge(root, document.adoptNode(next))
    document.title = page.title
    showHighlights()
    if (focused !== null && !focused.contains(document.activeElement)) focusOn(document.getElementById(focused.id))
  })().catch(() => setState('waiting'))
  await running
  running = undefined
  if (again) {
    again = false
    await refresh(location.href)
  }
}

function clearHighlights() {
  for (const note of document.querySelectorAll('.by')) note.remove()
  for (const element of document.querySelectorAll('.fresh')) element.classList.remove('fresh')
}
function showHighlights() {
  for (const [id, { text, until }] of highlights) {
    const element = document.getElementById(id)
    if (Date.now() > until) highlights.delete(id)
    else if (element !== null) {
      const note = document.createElement('p')
      note.className = 'by'
      note.textContent = text
      element.classList.add('fresh')
      element.append(note)
    }
  }
}
const columnOf = (id) => document.getElementById(id)?.closest('.lane')?.id
const VERBS = { created: 'created', updated: 'changed', deleted: 'deleted' }

async function apply(changes) {
  const before = new Map(changes.map(({ card }) => [card, card === null ? undefined : columnOf(card)]))
  await refresh()
  const said = []
  for (const { kind, id, card, action, title, by } of changes) {
    const isMoved = kind === 'card' && action === 'updated' && before.get(card) !== undefined && before.get(card) !== columnOf(card)
    const what = kind === 'card' ? '' : ' ' + (action === 'created' ? 'a ' : 'the ') + kind.replace('_', ' ')
    const text = (isMoved ? 'moved' : VERBS[action]) + (kind === 'card' ? '' : what) + ' · ' + by
    const place = document.getElementById(id) !== null && kind !== 'board' ? id : (card ?? '')
    highlights.set(place, { text: text[0].toUpperCase() + text.slice(1), until: Date.now() + HIGHLIGHT })
    const name = (kind === 'card' ? 'Card' : kind.replace('_', ' ')) + (title === null ? '' : ' “' + title + '”')
    said.push(name[0].toUpperCase() + name.slice(1) + ' ' + (isMoved ? 'moved' : VERBS[action]) + ' by ' + by)
  }
  clearHighlights()
  showHighlights()
  say(said.slice(-3).join('. '))
  setTimeout(() => {
    clearHighlights()
    showHighlights()
    if (highlights.size === 0) say('')
  }, HIGHLIGHT + 50)
}

const STATES = { live: 'Live', waiting: 'Reconnecting', ended: 'Signed out' }
function setState(state) {
  const sign = document.querySelector('[data-live]')
  if (sign === null) return
  sign.hidden = false
  sign.dataset.state = state
  sign.querySelector('[data-live-text]').textContent = STATES[state]
}

let source
let lastId
let waiting = []
let timer
let retry = 1000
function connect() {
  const url = new URL(root.dataset.events, location.href)
  if (lastId !== undefined) url.searchParams.set('after', lastId)
  source = new EventSource(url)
  source.addEventListener('open', () => {
    retry = 1000
    setState('live')
  })
  source.addEventListener('change', (event) => {
    lastId = event.lastEventId
    const change = JSON.parse(event.data)
    const ofCard = root.dataset.card
    if (ofCard !== undefined && change.card !== ofCard && change.kind !== 'column' && change.kind !== 'label') return
    waiting.push(change)
    clearTimeout(timer)
    timer = setTimeout(() => apply(waiting.splice(0)), 60)
  })
  source.addEventListener('error', (event) => {
    if (event.data !== undefined) {
      // The service has ended the stream, and says why: the page then says it too.
      disconnect()
      location.reload()
    } else {
      setState('waiting')
      if (source.readyState !== EventSource.CLOSED) return
      disconnect()
      // The feed may be too old, or the session over: the page knows.
      setTimeout(async () => {
        lastId = undefined
        await refresh()
        if (document.visibilityState === 'visible') connect()
      }, retry)
      retry = Math.min(retry * 2, 30000)
    }
  })
}
function disconnect() {
  if (source !== undefined) source.close()
  source = undefined
}
if (root !== null && 'EventSource' in globalThis) {
  connect()
  // A browser has few connections to one host: hidden windows need none.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') disconnect()
    else if (source === undefined) connect()
  })
  addEventListener('pagehide', disconnect)
  addEventListener('pageshow', (event) => event.persisted && source === undefined && connect())
}

const form = document.querySelector('[data-filters]')
if (form !== null) {
  form.querySelector('[data-apply]').hidden = true
  let typing
  const applyFilters = () => {
    const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value.trim() !== ''))
    for (const select of form.querySelectorAll('select')) select.classList.toggle('chosen', select.value !== '')
    history.replaceState(null, '', form.action.split('?')[0] + (query.size === 0 ? '' : '?' + query))
    refresh()
  }
  form.addEventListener('change', applyFilters)
  form.addEventListener('input', (event) => {
    if (event.target.type !== 'search') return
    clearTimeout(typing)
    typing = setTimeout(applyFilters, 250)
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    applyFilters()
  })
}

// A file that says that it is an image, and is none.
addEventListener('error', ({ target }) => target instanceof HTMLImageElement && target.classList.add('broken'), true)
for (const element of document.querySelectorAll('[data-needs-script]')) element.hidden = false
const find = document.querySelector('[data-find-board]')
if (find !== null)
  find.addEventListener('input', () => {
    const text = find.value.trim().toLowerCase()
    for (const item of document.querySelectorAll('.boards > li')) item.hidden = !item.textContent.toLowerCase().includes(text)
  })

function focusOn(element) {
  if (element === null || element === undefined) return false
  const target = element.matches('a, input') ? element : element.querySelector('.tile-title, a')
  if (target === null) return false
  target.focus()
  target.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  return true
}
function step(key) {
  const tile = document.activeElement === null ? null : document.activeElement.closest('.tile')
  if (tile === null) return focusOn(document.querySelector('.tile'))
  if (key === 'ArrowDown') return focusOn(tile.nextElementSibling)
  if (key === 'ArrowUp') return focusOn(tile.previousElementSibling)
  const lanes = [...document.querySelectorAll('.lane')]
  const direction = key === 'ArrowRight' ? 1 : -1
  const row = [...tile.parentElement.children].indexOf(tile)
  for (let i = lanes.indexOf(tile.closest('.lane')) + direction; i >= 0 && i < lanes.length; i += direction) {
    const tiles = lanes[i].querySelectorAll('.tile')
    if (tiles.length > 0) return focusOn(tiles[Math.min(row, tiles.length - 1)])
  }
  return false
}
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { target, key } = event
  const isTyping = target.matches('input, select, textarea')
  const keys = document.querySelector('[data-keys]')
  if (key === 'Escape') {
    if (isTyping) target.blur()
    else if (root !== null && root.dataset.card !== undefined) location.assign(root.dataset.board)
    return
  }
  if (isTyping || (keys !== null && keys.open)) return
  if (key === '/') {
    const search = document.querySelector('[data-search]')
    if (search === null) return
    event.preventDefault()
    search.focus()
    search.select()
  } else if (key === '?' && keys !== null) keys.showModal()
  else if (key.startsWith('Arrow') && document.querySelector('.tile') !== null && document.activeElement.closest('.menu, .about') === null) {
    if (step(key)) event.preventDefault()
  }
})
`
