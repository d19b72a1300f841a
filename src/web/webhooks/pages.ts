import type { VNode } from 'preact'
import type { Board } from '../../model/board.ts'
import type { Delivery, Webhook } from '../../model/webhook.ts'
import { readDeliveries } from '../../resources/webhooks/deliveries.ts'
import { keys } from '../../store/keys.ts'
import { boardPart, renderEntries } from '../boards/board-lists.ts'
import { doLink } from '../boards/controls.ts'
import { renderCrumbs } from '../boards/crumbs.ts'
import { readPeople, type People } from '../boards/people.ts'
import { readAll, workspacePage } from '../reader.ts'
import { html, renderMessage } from '../html.ts'
import { renderDistance, renderTime } from '../times.ts'
import { toldBy } from '../told.ts'
import { isSuccess } from '../../webhooks/attempts.ts'
import { readMay, renderWebhookControls } from './controls.ts'
import { pathOfWebhook, pathOfWebhooks } from './place.ts'
import { readSent, renderSent } from './sent.ts'
import { answerText, kindsText, renderState } from './words.ts'

/** The webhooks of a board, each with the controls that the person may use. */
export const boardWebhooksPage = boardPart('webhooks', 'webhooks.list', 'Webhooks', async (reader, board, controls) => {
  const of = { board_id: board.id }
  const { items } = await readAll<Webhook>(reader, ['webhooks.list', of], 5)
  const [people, may] = await Promise.all([readPeople(reader), readMay(reader, items)])
  const mayById = new Map(items.map(({ id }, i) => [id, may[i]!]))
  return html`
    <p class="hint">
      A webhook sends the changes of the board that its creator may read to a URL. Each delivery is signed with the secret of the webhook.
    </p>
    ${items.length === 0 && html`<p class="empty">This board has no webhooks yet.</p>`}
    ${renderEntries(items, (webhook) => [
      html`${renderWebhook(webhook, people, mayById.get(webhook.id)!)}
        <p class="hint">
          <a href=${pathOfWebhook(reader.base, webhook.id)}>Last deliveries<span class="unseen"> to ${webhook.url}</span></a>
        </p>`,
      ...renderWebhookControls({ ...controls, may: mayById.get(webhook.id)! }, reader.base, webhook),
    ])}
    ${doLink(controls, 'webhooks.create', of, 'Create webhook', { className: 'button primary' })}
  `
})

/** A webhook with its last deliveries. */
export const webhookPage = workspacePage('webhooks/{webhook}', 'webhooks.read', async (reader) => {
  const { context, base } = reader
  const of = { webhook_id: context.params['webhook']! }
  const webhook = (await reader.read('webhooks.read', of)).data as Webhook
  const [board, deliveries, people, [may]] = await Promise.all([
    reader.find<Board>('boards.read', { board_id: webhook.board_id }),
    reader.read('webhooks.deliveries', of).then(({ data }) => data as readonly Delivery[]),
    readPeople(reader),
    readMay(reader, [webhook]),
  ])
  const { asked, nextAt } = await reader.transact(async (tx) => ({
    asked: (await readDeliveries(tx, webhook.id)).find(({ id }) => id === context.query.get('delivery')),
    nextAt: (await tx.get(keys.webhookProgress(webhook.id)))?.next_at ?? undefined,
  }))
  const tested = deliveries.find(({ id }) => id === toldBy(context).get('tested'))
  const body = html`${renderCrumbs([
      ['Boards', '/app'],
      [board?.name ?? 'Board', `${base}/boards/${webhook.board_id}`],
      ['Webhooks', pathOfWebhooks(base, webhook.board_id)],
    ])}
    <h1>Webhook</h1>
    ${tested !== undefined && renderMessage(isSuccess(tested) ? 'done' : 'warning', answerText(tested))}
    ${renderWebhook(webhook, people, may!, nextAt === undefined ? undefined : renderDistance(nextAt, context.web.clock()))}
    <div class="actions webhook-actions">${renderWebhookControls({ context, may: may! }, base, webhook)}</div>
    <h2 id="deliveries">Last deliveries</h2>
    ${renderDeliveries(pathOfWebhook(base, webhook.id), deliveries)} ${asked && renderSent(await readSent(reader, webhook, asked))}`
  return { title: `Webhook · ${board?.name ?? ''}`, body }
})

/**
 * The URL is a text: who only looks at a page should not open it.
 * @param next when a failed delivery is tried again
 */
function renderWebhook(webhook: Webhook, people: People, may: ReadonlySet<string>, next?: VNode): VNode {
  const by = html`By <bdi>${people.nameOf(webhook.creator_id)}</bdi>`
  const about = `, ${kindsText(webhook.kinds)}${webhook.has_authorization ? ', with an authorization header' : ''}`
  return html`<div class="webhook">
    <p><code>${webhook.url}</code></p>
    ${renderState(webhook, may.has('webhooks.update'), next)}
    <p class="hint">${by}${about}</p>
  </div>`
}

/** @param path of the page of the webhook */
function renderDeliveries(path: string, deliveries: readonly Delivery[]): VNode {
  if (deliveries.length === 0) return html`<p class="empty">Nothing was sent yet.</p>`
  return html`<div class="trail" role="region" aria-labelledby="deliveries" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Sent</th>
          <th scope="col">Answer</th>
          <th scope="col">Duration</th>
        </tr>
      </thead>
      <tbody>
        ${deliveries.map((delivery) => {
          const { id, at, entries, status, error, duration_ms } = delivery
          return html`<tr>
            <td>${renderTime(at)}</td>
            <td>
              <a href="${path}?delivery=${id}#sent">${entries === 0 ? 'a test' : entries === 1 ? '1 change' : `${entries} changes`}</a>
            </td>
            <td>
              <span class=${isSuccess(delivery) ? 'outcome' : 'outcome denied'}>${status ?? 'none'}</span
              >${error !== null && html` <span class="hint">${error}</span>`}
            </td>
            <td>${duration_ms.toLocaleString('en')} ms</td>
          </tr>`
        })}
      </tbody>
    </table>
  </div>`
}
