/** Announces who has changed what on a page, and tints it for some time. Nothing moves under the pointer of the person. */
import type { ShownChange } from '../boards/board-update.ts'
import { sentenceOf } from '../boards/sentences.ts'
import { announce } from './toast.ts'

/** How long a change is marked, in milliseconds. */
const LIFETIME = 8000
/** Until when what is marked. */
const marks = new Map<string, number>()

/** Changes the page without the marks, which are no part of it. */
export function withoutMarks(change: () => void): void {
  for (const element of document.querySelectorAll('.fresh')) element.classList.remove('fresh')
  change()
  for (const [id, until] of marks) {
    if (Date.now() > until) marks.delete(id)
    else document.getElementById(id)?.classList.add('fresh')
  }
}

const columnOf = (card: string | null) => (card === null ? undefined : document.getElementById(card)?.closest('.lane')?.id)

/** What a card is called on this page. */
function titleOf(card: string | null, { card: ofPage }: DOMStringMap): string | undefined {
  const title = card === ofPage ? document.getElementById('card-title') : document.getElementById(card ?? '')?.querySelector('.tile-title')
  return title?.textContent ?? undefined
}

/**
 * Prepares the announcement of changes while the page still shows what was before them.
 * @param page the data of its root
 * @returns announces them, once the page shows them
 */
export function prepareAnnouncement(changes: readonly ShownChange[], page: DOMStringMap): () => void {
  const before = changes.map(({ card }) => ({ column: columnOf(card), title: titleOf(card, page) }))
  return () => {
    const sentences = changes.flatMap((change, i) => {
      const { kind, id, card, action, isOwn } = change
      if (isOwn || !isOnPage(change, page)) return []
      const { column, title } = before[i]!
      const isMoved = kind === 'card' && action === 'updated' && column !== undefined && column !== columnOf(card)
      const place = document.getElementById(id) !== null && kind !== 'board' ? id : (card ?? '')
      marks.set(place, Date.now() + LIFETIME)
      return [sentenceOf(change, { cardTitle: titleOf(card, page) ?? title, isMoved })]
    })
    if (sentences.length === 0) return
    withoutMarks(() => {})
    announce(sentences.slice(-3).join('. '))
    setTimeout(() => {
      withoutMarks(() => {})
      if (marks.size === 0) announce('')
    }, LIFETIME + 50)
  }
}

/** What the page of a card shows around the card. */
const ON_CARD_PAGES: ReadonlySet<string> = new Set(['board', 'column', 'label'])

/** Whether the page shows what has changed. */
export const isOnPage = ({ card, kind }: ShownChange, page: DOMStringMap): boolean =>
  page['card'] === undefined || card === page['card'] || ON_CARD_PAGES.has(kind)
