import type { VNode } from 'preact'
import type { ChangeRecord } from '../../model/change.ts'
import { html } from '../html.ts'
import { plainWords } from '../markdown.ts'
import { renderTime } from '../times.ts'
import { EXAMINED, type History } from './history.ts'
import { joined, quoted, renderPhrase, type Phrase } from '../phrases.ts'
import type { People } from './people.ts'
import { doneBy, verbOf } from './sentences.ts'
import { tellUpdate, type KnownChange, type Names } from './told-changes.ts'
import { isLostAttempt } from './work.ts'

/** What was done with the work on a card. */
const WORK: Readonly<Partial<Record<ChangeRecord['action'], string>>> = {
  stuck: 'left the card stuck',
  asked: 'asked a question',
  answered: 'answered the question',
  retried: 'let the card be tried again',
}

/** What a change did to the card, or to what is on it. */
function told(change: KnownChange, names: Names): readonly Phrase[] {
  const { kind, id, action, attempts } = change
  if (kind === 'work') return [[WORK[action] ?? `${action} (attempt ${attempts})`]]
  if (kind === 'card' && action === 'updated') return tellUpdate(change, ['the card'], names)
  if (kind === 'card' || kind === 'claim') return [[`${doneBy({ kind: 'card', action })} the card`]]
  const title = change.title ?? names.titleOf(id)
  if (title === undefined) return [[doneBy({ kind, action })]]
  const it = quoted(id, title)
  if (action === 'updated') return tellUpdate(change, [`the ${kind} `, it], names)
  return [[`${verbOf({ kind, action })} `, it]]
}

/** The section of the history on the page of a card: a link to it, unless it was asked for. */
export function renderHistory(history: History | undefined, people: People): VNode {
  return html`<section id="card-history" aria-labelledby="history-title">
    <h2 id="history-title">History</h2>
    ${history === undefined ? html`<p><a href="?history#card-history">Show who changed this card, and when</a></p>` : renderItems(history, people)}
  </section>`
}

function renderItems({ items, names, older, isFull }: History, people: People): VNode {
  const isWhole = items.some(({ changes }) => changes.some(({ kind, action }) => kind === 'card' && action === 'created'))
  const examined = EXAMINED.toLocaleString('en')
  return html`
    ${
      items.length > 0 &&
      html`<ol class="history">
        ${items.map(({ at, by, changes }) => {
          const time = html`<small class="hint">${renderTime(at)}</small>`
          const done = changes.filter((change) => !isLostAttempt(change))
          const lost = changes.filter(isLostAttempt)
          return html`${
            done.length > 0 &&
            html`<li>
              <span><strong dir="auto">${by}</strong> ${renderPhrase(wordsOf(done, names, people))}</span> ${time}
            </li>`
          }
          ${lost.map(({ attempts }) => html`<li><span>its claim ran out (attempt ${attempts})</span> ${time}</li>`)}`
        })}
      </ol>`
    }
    ${older !== undefined && !isFull && html`<p class="hint">These are from ${examined} changes of the board. Older ones were not examined yet.</p>`}
    ${older !== undefined && html`<p><a href="?history=${older}#card-history">Older changes</a></p>`}
    ${older === undefined && !isWhole && html`<p class="hint">${items.length === 0 ? 'No changes of this card are kept any more.' : 'Changes before these are not kept any more.'}</p>`}
  `
}

/** Whether what the work has come to says a change as well: it ends the claim, and a question and an answer are comments. */
function isSaid({ kind, action }: ChangeRecord, changes: readonly ChangeRecord[]): boolean {
  const hasWork = (...actions: readonly string[]) => changes.some((change) => change.kind === 'work' && actions.includes(change.action))
  return (
    (kind === 'claim' && action === 'released' && hasWork('failed', 'asked')) ||
    (kind === 'comment' && action === 'created' && hasWork('asked', 'answered'))
  )
}

/** What a request did, in words: each thing once. */
function wordsOf(changes: readonly KnownChange[], names: Names, { memberName }: People): Phrase {
  const done = joined(changes.flatMap((change) => (isSaid(change, changes) ? [] : told(change, names))))
  const reason = changes.find((change) => change.reason != null)?.reason
  return reason == null ? done : [...done, `: ${plainWords(reason, memberName)}`]
}
