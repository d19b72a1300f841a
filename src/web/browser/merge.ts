import { takeToken } from './form-tokens.ts'

/**
 * Replaces the parts of an element that differ in another version of it. The children of a merged element have ids, which let them keep
 * their identity: focus, scrolling and loaded images stay. Other elements are replaced as a whole. What a person has opened stays open.
 */
export function merge(old: Element, next: Element): void {
  if (old.matches('details[open]')) next.setAttribute('open', '')
  for (const { id } of old.querySelectorAll('details[open][id]')) next.querySelector(`details[id="${id}"]`)?.setAttribute('open', '')
  takeToken(next)
  mergeParts(old, next)
}

function mergeParts(old: Element, next: Element): void {
  if (old.hasAttribute('data-keep') || old.isEqualNode(next) || isDraft(old)) return
  if (!old.hasAttribute('data-merge') || old.tagName !== next.tagName) {
    old.replaceWith(next)
    return
  }
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  for (const { name } of Array.from(old.attributes)) if (!next.hasAttribute(name)) old.removeAttribute(name)
  const known = new Map(Array.from(old.children, (child) => [child.id, child]))
  const wanted = new Set(Array.from(next.children, ({ id }) => id))
  for (const [id, child] of known) if (!wanted.has(id) && !hasDraft(child)) child.remove()
  let place = old.firstElementChild
  // A copy: children that are put in their place leave the collection.
  for (const child of Array.from(next.children)) {
    // What is gone and holds a draft.
    while (place !== null && !wanted.has(place.id)) place = place.nextElementSibling
    const own = known.get(child.id)
    if (own === undefined) old.insertBefore(child, place)
    else {
      place = putAt(place, own)
      mergeParts(own, child)
    }
  }
}

/**
 * Puts an element where another one is that stands before it.
 * @returns the element after it
 */
function putAt(place: Element | null, own: Element): Element | null {
  const list = own.parentElement!
  if (own !== place && !own.contains(document.activeElement)) {
    list.insertBefore(own, place)
    return place
  }
  // Moving an element takes the focus from its content, so the others are moved.
  const behind = own.nextElementSibling
  for (let one = place; one !== null && one !== own;) {
    const following = one.nextElementSibling
    list.insertBefore(one, behind)
    one = following
  }
  return own.nextElementSibling
}

/** Puts an element before another one, or last. If it is there already, it is not touched: its content would lose focus and scrolling. */
export function putBefore(list: Element, element: Element, next: Element | null): void {
  if (element.parentElement !== list || element.nextElementSibling !== next) list.insertBefore(element, next)
}

/** Whether a person is writing something in an element: it stays as it is, with the version that they began with. */
function isDraft(element: Element): boolean {
  if (!element.hasAttribute('data-draft')) return false
  const focused = element.contains(document.activeElement) ? document.activeElement : null
  return focused?.matches('input, textarea, select') === true || hasText(element)
}

/** Whether something that is gone holds what a person has written. The focus alone keeps nothing: what was sent is gone with its form. */
function hasDraft(element: Element): boolean {
  const drafts = Array.from(element.querySelectorAll('[data-draft]'))
  return [element, ...drafts].some((one) => one.hasAttribute('data-draft') && hasText(one))
}

/** Whether something is written in an element, and not sent. */
export function hasText(element: Element): boolean {
  return changedFields(element).length > 0
}

/** What is written in an element, and not sent. */
export function unsentTexts(element: Element): string[] {
  return changedFields(element).flatMap(({ value }) => (value.trim() === '' ? [] : [value]))
}

function changedFields(element: Element): (HTMLInputElement | HTMLTextAreaElement)[] {
  const texts = element.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    'textarea, input:not([type=hidden], [type=checkbox], [type=radio])',
  )
  return Array.from(texts).filter((text) => text.value !== text.defaultValue)
}
