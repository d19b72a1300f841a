import type { VNode } from 'preact'
import type { AuditEntry } from '../../model/audit.ts'
import type { ChangeRecord } from '../../model/change.ts'
import { html } from '../html.ts'
import { renderTime } from '../times.ts'
import { EXAMINED, isUpdate, type History } from './history.ts'
import type { People } from './people.ts'
import { doneBy } from './sentences.ts'

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
/** What the feed says. */
function changed({ kind, action }: ChangeRecord): string {
  if (kind === 'card' || kind === 'claim' || kind === 'work') return `${doneBy({ kind: 'card', action })} the card`
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
        ${items.map(
          ({ at, by, changes, entries }) =>
            html`<li>
              <span><strong>${by}</strong> ${wordsOf(changes, entries, people)}</span> <small class="hint">${renderTime(at)}</small>
            </li>`,
        )}
      </ol>`
    }
    ${older !== undefined && !isFull && html`<p class="hint">These are from ${examined} changes of the board. Older ones were not examined yet.</p>`}
    ${older !== undefined && html`<p><a href="?history=${older}#card-history">Older changes</a></p>`}
    ${older === undefined && !isWhole && html`<p class="hint">${items.length === 0 ? 'No changes of this card are kept any more.' : 'Changes before these are not kept any more.'}</p>`}
    <p class="hint">What was deleted from the card is not listed.</p>
  `
}

/** What a request did, in words: each thing once. */
function wordsOf(changes: readonly ChangeRecord[], entries: readonly AuditEntry[], people: People): string {
  const operations = entries.flatMap(({ operation, ids }) => {
    const userId = ids.find((id) => id.startsWith('usr_'))
    return OPERATIONS[operation]?.replace('{user}', () => (userId === undefined ? 'a person' : people.nameOf(userId))) ?? []
  })
  const words = changes.flatMap((change) => (isUpdate(change) && operations.length > 0 ? operations : changed(change)))
  return new Intl.ListFormat('en').format(new Set(words))
}
