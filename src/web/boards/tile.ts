import { LRUCache } from 'lru-cache'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { authorName } from '../../model/author.ts'
import { hasOnlyImportedTimes } from '../../model/imported-times.ts'
import { html } from '../html.ts'
import { remaining } from '../time-texts.ts'
import { renderDay, renderRemaining, renderTime } from '../times.ts'
import type { TileFacts } from './board-data.ts'
import type { ListedCard } from '../listed-card.ts'
import { dueState, type DueState } from './filters.ts'
import { doneSign, icon, swatch } from './icons.ts'
import { renderPerson } from './people.ts'
import { badgeOf, nextMoment, renderBadge } from './work.ts'

/** Labels and people that a card on a board shows; the others are counted. */
const SHOWN = { labels: 4, people: 3 }
/** How many bytes of tiles a process keeps, including the data they were rendered from. */
const KEPT = 16 * 1024 * 1024

/** All that the HTML of a tile depends on. */
type Tile = ReturnType<typeof tileOf>

const rendered = new LRUCache<string, Buffer>({ maxSize: KEPT, sizeCalculation: (bytes, key) => bytes.length + 2 * key.length })

/**
 * The HTML of a card on a board, encoded: the same in the first page and in an update. It does not depend on the person's permissions, so
 * it is rendered once for all who see the same.
 */
export function tileHtml(card: ListedCard, facts: TileFacts): Buffer {
  const tile = tileOf(card, facts)
  const key = JSON.stringify(tile)
  const known = rendered.get(key)
  if (known !== undefined) return known
  const bytes = Buffer.from(renderToString(renderTile(tile, facts.now)))
  rendered.set(key, bytes)
  return bytes
}

function tileOf(card: ListedCard, { base, labelOf, nameOf, questionOf, now }: TileFacts) {
  const { id, title, position, due_at, completed_at, outcome, cover_attachment_id: cover, label_ids, assignee_ids, counts, claim } = card
  const labels = label_ids.flatMap((label) => labelOf(label) ?? []).map(({ color, name }) => [color, name] as const)
  return {
    base,
    id,
    title,
    position,
    cover,
    labels: labels.slice(0, SHOWN.labels),
    moreLabels: Math.max(labels.length - SHOWN.labels, 0),
    people: assignee_ids.slice(0, SHOWN.people).map((userId) => [userId, nameOf(userId)] as const),
    morePeople: Math.max(assignee_ids.length - SHOWN.people, 0),
    due_at,
    completed_at,
    outcome,
    // A day is shown with its year unless that is this year.
    dueState: due_at === null ? '' : `${dueState({ due_at, completed_at }, now)} ${new Date(now).getUTCFullYear()}`,
    isDescribed: card.description !== '' && !hasOnlyImportedTimes(card.description),
    counts: [counts?.subtasks ?? 0, counts?.comments ?? 0, counts?.attachments ?? 0],
    until: nextMoment(card),
    claimedUntil: claim?.expires_at,
    holder: claim == null ? undefined : authorName(nameOf(claim.holder_id), claim.token_name),
    remaining: claim == null ? undefined : remaining(Date.parse(claim.expires_at), now),
    badge: badgeOf(card, questionOf(id), now),
  }
}

/** @param now matters only where the tile says so */
function renderTile(tile: Tile, now: number): VNode {
  const { base, id, title, position, cover, labels, moreLabels, people, morePeople, completed_at, until, claimedUntil, badge } = tile
  return html`<li class=${completed_at === null ? 'tile' : 'tile completed'} id=${id} data-position=${position} data-until=${until}>
    ${cover !== null && html`<img class="cover" src="${base}/attachments/${cover}/preview" alt="" loading="lazy" decoding="async" />`}
    ${
      labels.length > 0 &&
      html`<p class="labels">
        <span class="unseen">Labels: </span>
        ${labels.map(([color, name]) => html`<span class="label">${swatch(color, 'dot')}<bdi>${name}</bdi></span>`)}
        ${moreLabels > 0 && html`<span class="label">+${moreLabels}</span>`}
      </p>`
    }
    <a class="tile-title" dir="auto" href="${base}/cards/${id}">${title}</a>
    <button type="button" class="tile-menu" aria-haspopup="menu" aria-label="Actions: ${title}"></button>
    ${renderFacts(tile, now)} ${badge !== undefined && renderBadge(badge, now)}
    ${
      claimedUntil !== undefined &&
      html`<p class="holder">
        ${icon('claim')}<span class="name" dir="auto" title=${tile.holder}><span class="unseen">Claimed by </span>${tile.holder}</span
        ><span class="unseen">, until ${renderTime(claimedUntil)}, </span>${renderRemaining(claimedUntil, now)}<span class="unseen">
          left</span
        >
      </p>`
    }
    ${
      people.length > 0 &&
      html`<p class="people">
        ${people.map(([userId, name]) => renderPerson(userId, name))} ${morePeople > 0 && html`<span class="hint">+${morePeople}</span>`}
      </p>`
    }
  </li>`
}

const DUE_WORDS: Readonly<Record<DueState, string>> = { done: '', overdue: 'overdue since ', soon: 'due soon: ', later: 'due ' }

/** The due time of a card: a colored sign and the time, as a page shows it. */
export function renderDue(card: { due_at: string; completed_at: string | null }, time: VNode, now: number): VNode {
  const state = dueState(card, now)
  return html`<span class="fact due ${state}">${icon('due')}<span class="unseen">${DUE_WORDS[state]}</span>${time}</span>`
}

function renderFacts({ due_at, completed_at, outcome, isDescribed, counts }: Tile, now: number): VNode | undefined {
  const facts = [
    completed_at !== null && doneSign(outcome),
    due_at !== null && renderDue({ due_at, completed_at }, renderDay(due_at, now), now),
    isDescribed && html`<span class="fact">${icon('description')}<span class="unseen">has a description</span></span>`,
    ...(['subtasks', 'comments', 'attachments'] as const).map((name, i) => {
      const count = counts[i]!
      return (
        count > 0 &&
        html`<span class="fact">${icon(name)}${count}<span class="unseen"> ${count === 1 ? name.slice(0, -1) : name}</span></span>`
      )
    }),
  ].filter((fact) => fact !== false)
  return facts.length === 0 ? undefined : html`<p class="facts">${facts}</p>`
}
