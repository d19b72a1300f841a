/** Puts the fragments of an update into the page of a board. */
import { countTexts, foundText, isOver } from '../boards/counts.ts'
import type { BoardUpdate } from '../boards/board-update.ts'
import { merge } from './merge.ts'
import { showTimes } from './times.ts'

/** @returns whether the page has no place for what has changed: then it is to be fetched again */
export function putFragments({ changes, tiles, lanes }: BoardUpdate, now: number): boolean {
  let isLacking = false
  for (const [id, fragment] of Object.entries(lanes)) {
    const lane = document.getElementById(id)
    const isNew = changes.some((change) => change.id === id && change.action === 'created')
    if (fragment === null) lane?.remove()
    else if (lane !== null) putLane(lane, parse(fragment.html, now))
    // A page of one column has no others.
    else if (new URLSearchParams(location.search).has('column')) continue
    else if (isNew && document.getElementById('empty') === null) placeLane(parse(fragment.html, now))
    // A column that comes back has cards.
    else isLacking = true
  }
  if (document.querySelector('.lane') === null) isLacking = true
  for (const [id, fragment] of Object.entries(tiles)) {
    const list = fragment === null ? null : document.getElementById(`${fragment.column}-cards`)
    if (list === null) document.getElementById(id)?.remove()
    else if (putTile(parse(fragment!.html, now), list)) isLacking = true
  }
  showCounts()
  return isLacking
}

function parse(html: string, now: number): HTMLElement {
  const template = document.createElement('template')
  template.innerHTML = html
  showTimes(template.content, now)
  return template.content.firstElementChild as HTMLElement
}

/** The order of columns on a board, and of cards in a column. */
function isBefore(one: HTMLElement, other: HTMLElement): boolean {
  const [a, b] = [one.dataset['position'] ?? '', other.dataset['position'] ?? '']
  return a === b ? one.id < other.id : a < b
}

/** The tiles of a column keep their places: only what is around them is of the fragment. */
function putLane(lane: HTMLElement, next: HTMLElement): void {
  lane.dataset['position'] = next.dataset['position']
  for (const part of ['head', 'add']) {
    const [old, fresh] = [lane, next].map((one) => one.querySelector(`[id="${lane.id}-${part}"]`))
    if (old && fresh) merge(old, fresh)
  }
  placeLane(lane)
}

function placeLane(lane: HTMLElement): void {
  const lanes = document.getElementById('lanes')!
  const others = (Array.from(lanes.children) as HTMLElement[]).filter((one) => one !== lane)
  const place = others.find((one) => !one.matches('.lane') || isBefore(lane, one)) ?? null
  if (lane.parentElement !== lanes || lane.nextElementSibling !== place) lanes.insertBefore(lane, place)
}

/** @returns whether the column shows so few of its cards that it lacks some */
function putTile(tile: HTMLElement, list: Element): boolean {
  const others = (Array.from(list.children) as HTMLElement[]).filter((one) => one.id !== tile.id)
  // What is only being made is the last.
  const place = others.find((one) => one.dataset['position'] === undefined || isBefore(tile, one))
  const hasMore = document.getElementById(list.id.replace(/cards$/, 'more')) !== null
  const old = document.getElementById(tile.id)
  // Behind the last one that is shown: there are others in between.
  if (hasMore && place === undefined) old?.remove()
  else if (old === null) list.insertBefore(tile, place ?? null)
  else {
    if (old.parentElement !== list || old.nextElementSibling !== (place ?? null)) list.insertBefore(old, place ?? null)
    merge(old, tile)
  }
  return hasMore && list.children.length < 10
}

function showCounts(): void {
  let all = 0
  let isMore = false
  for (const lane of document.querySelectorAll('.lane')) {
    const count = lane.querySelectorAll('.tile[data-position]:not([hidden])').length
    const hasMore = lane.querySelector('.more') !== null
    const element = lane.querySelector<HTMLElement>('[data-count]')!
    const limit = element.dataset['limit'] === undefined ? null : Number(element.dataset['limit'])
    element.classList.toggle('over', isOver(count, limit))
    element.replaceChildren(
      ...countTexts(count, limit, hasMore).map(([text, isUnseen]) => {
        if (!isUnseen) return text
        const part = document.createElement('span')
        part.className = 'unseen'
        part.textContent = text
        return part
      }),
    )
    all += count
    isMore ||= hasMore
  }
  const found = document.querySelector('[data-found]')
  if (found !== null) found.textContent = foundText(all, isMore)
}
