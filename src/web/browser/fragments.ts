/** Puts the fragments of an update into the page of a board. */
import { countTexts, foundText, isOver, questionTexts, type TextPart } from '../boards/counts.ts'
import type { BoardUpdate } from '../boards/board-update.ts'
import { createElement } from './create-element.ts'
import { merge, putBefore } from './merge.ts'
import { showTimes } from './times.ts'

/** @returns whether the page has no place for a change and must be fetched again */
export function putFragments({ changes, tiles, lanes }: BoardUpdate, now: number): boolean {
  let isLacking = false
  for (const [id, fragment] of Object.entries(lanes)) {
    const lane = document.getElementById(id)
    const isNew = changes.some((change) => change.id === id && change.action === 'created')
    if (fragment === null) lane?.remove()
    else if (lane !== null) putLane(lane, parse(fragment.html, now))
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

/** The place of a column on a board, and of a card in a column. They compare as texts, as the index entries of the service do. */
const placeOf = ({ id, dataset }: HTMLElement) => `${dataset['position']} ${id}`

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
  if (lane.contains(document.activeElement)) return placeAround(lane, others)
  const next = others.find((one) => !one.matches('.lane') || placeOf(lane) < placeOf(one)) ?? null
  putBefore(lanes, lane, next)
}

/** Moving an element takes the focus from its content, so the others are moved. */
function placeAround(lane: HTMLElement, others: readonly HTMLElement[]): void {
  const behind = lane.nextElementSibling
  for (const one of others.filter((other) => other.matches('.lane'))) {
    const isBefore = Boolean(one.compareDocumentPosition(lane) & Node.DOCUMENT_POSITION_FOLLOWING)
    const belongsBefore = placeOf(one) < placeOf(lane)
    if (isBefore !== belongsBefore) lane.parentElement!.insertBefore(one, belongsBefore ? lane : behind)
  }
}

/** @returns whether the column shows so few of its cards that it lacks some */
function putTile(tile: HTMLElement, list: Element): boolean {
  const others = (Array.from(list.children) as HTMLElement[]).filter((one) => one.id !== tile.id)
  // An item that is still being made is the last.
  const place = others.find((one) => one.dataset['position'] === undefined || placeOf(tile) < placeOf(one)) ?? null
  const more = document.getElementById(list.id.replace(/cards$/, 'more'))
  const old = document.getElementById(tile.id)
  // The cards after this one are on the page that the link leads to.
  if (more !== null && placeOf(tile) > more.dataset['last']!) old?.remove()
  else {
    putBefore(list, old ?? tile, place)
    if (old !== null) merge(old, tile)
  }
  return more !== null && list.children.length < 10
}

function write(element: Element, texts: readonly TextPart[]): void {
  element.replaceChildren(...texts.map(([text, isUnseen]) => (isUnseen ? createElement('span', { className: 'unseen' }, text) : text)))
}

/**
 * Counts the questions that wait for the person.
 * @param asking whether cards that have changed do so
 */
export function countQuestions(asking: BoardUpdate['asking']): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-asking]')) {
    const cards = new Set(element.dataset['asking']!.split(' ').filter(Boolean))
    for (const [id, isAsking] of Object.entries(asking)) {
      if (isAsking) cards.add(id)
      else cards.delete(id)
    }
    element.dataset['asking'] = [...cards].join(' ')
    write(element, questionTexts(cards.size, element.dataset['more'] !== undefined))
  }
}

/** Counts the cards of each column again. */
export function showCounts(): void {
  let all = 0
  let isMore = false
  for (const lane of document.querySelectorAll('.lane')) {
    const count = lane.querySelectorAll('.tile[data-position]:not([hidden])').length
    const hasMore = lane.querySelector('.more') !== null
    const element = lane.querySelector<HTMLElement>('[data-count]')!
    const limit = element.dataset['limit'] === undefined ? null : Number(element.dataset['limit'])
    element.classList.toggle('over', isOver(count, limit))
    write(element, countTexts(count, limit, hasMore))
    all += count
    isMore ||= hasMore
  }
  const found = document.querySelector('[data-found]')
  if (found !== null) found.textContent = foundText(all, isMore)
}
