import type { VNode } from 'preact'
import type { AuditEntry } from '../../model/audit.ts'
import type { ChangeRecord } from '../../model/change.ts'
import { html } from '../html.ts'
import { renderTime } from '../times.ts'
import { EXAMINED, isUpdate, type History } from './history.ts'
import type { People } from './people.ts'
import { doneBy } from './sentences.ts'
import { isLostAttempt } from './work.ts'

/** What operations do with a card. `{user}` is the person whom they name. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'cards.update': 'edited the title, the description or the due date',
  'cards.move': 'moved the card',
  'cards.complete': 'completed or reopened the card',
  'cards.archive': 'archived the card',
  'cards.restore': 'restored the card',
  'cards.assign': 'assigned {user}',
  'cards.unassign': 'removed {user} from the assignees',
  'cards.apply_label': 'added a label',
  'cards.remove_label': 'removed a label',
  'cards.set_cover': 'set the cover',
  'cards.clear_cover': 'removed the cover',
  'blockers.add': 'added a blocker',
  'blockers.remove': 'removed a blocker',
}
/** What was done with the work on a card. */
const WORK: Readonly<Partial<Record<ChangeRecord['action'], string>>> = {
  stuck: 'left the card stuck',
  asked: 'asked a question',
  answered: 'answered the question',
  retried: 'let the card be tried again',
}

/** What the feed says. */
function changed({ kind, action, attempts }: ChangeRecord): string {
  if (kind === 'work') return WORK[action] ?? `${action} (attempt ${attempts})`
  if (kind === 'card' || kind === 'claim') return `${doneBy({ kind: 'card', action })} the card`
  return kind === 'attachment' && action === 'created' ? 'attached a file' : doneBy({ kind, action })
}

/** The section of the history on the page of a card: a link to it, unless it was asked for. */
export function renderHistory(history: History | undefined, people: People): VNode {
  return html`<section id="card-history" aria-labelledby="history-title">
    <h2 id="history-title">History</h2>
    ${history === undefined ? html`<p><a href="?history#card-history">Show who changed this card, and when</a></p>` : renderItems(history, people)}
  </section>`
}

function renderItems({ items, older, isFull }: History, people: People): VNode {
  const isWhole = items.some(({ changes }) => changes.some(({ kind, action }) => kind === 'card' && action === 'created'))
  const examined = EXAMINED.toLocaleString('en')
  return html`
    ${
      items.length > 0 &&
      html`<ol class="history">
        ${items.map(({ at, by, changes, entries }) => {
          const time = html`<small class="hint">${renderTime(at)}</small>`
          const done = changes.filter((change) => !isLostAttempt(change))
          const lost = changes.filter(isLostAttempt)
          return html`${
            done.length > 0 &&
            html`<li>
              <span><strong>${by}</strong> ${wordsOf(done, entries, people)}</span> ${time}
            </li>`
          }
          ${lost.map(({ attempts }) => html`<li><span>its claim ran out (attempt ${attempts})</span> ${time}</li>`)}`
        })}
      </ol>`
    }
    ${older !== undefined && !isFull && html`<p class="hint">These are from ${examined} changes of the board. Older ones were not examined yet.</p>`}
    ${older !== undefined && html`<p><a href="?history=${older}#card-history">Older changes</a></p>`}
    ${older === undefined && !isWhole && html`<p class="hint">${items.length === 0 ? 'No changes of this card are kept any more.' : 'Changes before these are not kept any more.'}</p>`}
    <p class="hint">What was deleted from the card is not listed.</p>
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
function wordsOf(changes: readonly ChangeRecord[], entries: readonly AuditEntry[], people: People): string {
  const operations = entries.flatMap(({ operation, ids }) => {
    const userId = ids.find((id) => id.startsWith('usr_'))
    return OPERATIONS[operation]?.replace('{user}', () => (userId === undefined ? 'a person' : people.nameOf(userId))) ?? []
  })
  const words = changes.flatMap((change) =>
    isSaid(change, changes) ? [] : isUpdate(change) && operations.length > 0 ? operations : changed(change),
  )
  const done = new Intl.ListFormat('en').format(new Set(words))
  const reason = changes.find((change) => change.reason != null)?.reason
  return reason === undefined ? done : `${done}: ${reason}`
}
