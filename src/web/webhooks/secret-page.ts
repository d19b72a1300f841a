import type { VNode } from 'preact'
import type { Webhook } from '../../model/webhook.ts'
import { html, renderMessage, secretCard, textToCopy } from '../html.ts'
import type { PageView } from '../page-context.ts'
import { pathOfWebhook } from './place.ts'
import { readReceiver, receivers } from './receivers.ts'

/** What the operations answer that make a secret. A repetition has null in its place. */
export interface WithSecret extends Pick<Webhook, 'id' | 'url'> {
  readonly secret: string | null
}

/**
 * The answer to the form that made a secret, the only page that shows it.
 * @param base the path of the workspace
 */
export function secretPage(base: string, { id, url, secret }: WithSecret, isRotated: boolean): PageView {
  const path = pathOfWebhook(base, id)
  if (secret === null) return shownBefore(path)
  const title = isRotated ? 'Secret rotated: the new one' : 'Webhook created: its secret'
  const body = html`
    <h1>${title}</h1>
    ${renderMessage('warning', 'The secret is shown only this once. Copy it now, and give it to the receiver. It proves that a delivery is from here.')}
    <div data-once>
      ${secretCard('webhook-secret', `Secret for ${url}`, secret, 'the secret', isRotated && html`<p>The old secret signs too for 24 hours.</p>`)}
    </div>
    ${renderReceivers()}
    <p><a class="button primary" href=${path}>I have stored it</a></p>
  `
  return { title, body }
}

function shownBefore(path: string): PageView {
  const title = 'The secret was shown before'
  const body = html`
    <h1>${title}</h1>
    <p role="alert">
      This form was sent twice. The answer to the first one had the secret, which is shown only once. If you did not see it, rotate it.
    </p>
    <p><a class="button primary" href=${path}>Go to the webhook</a></p>
  `
  return { title, body, status: 409 }
}

function renderReceivers(): VNode {
  return html`<section aria-labelledby="receivers" class="examples">
    <h2 id="receivers">A receiver that verifies deliveries</h2>
    <p class="hint">
      It reads the secret from <code>WEBHOOK_SECRET</code>, and listens on port 8080. Put it behind your proxy for HTTPS. Deliveries
      follow${' '} <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.
    </p>
    ${receivers.map(
      (receiver, i) =>
        html`<details name="receiver" open=${i === 0}>
          <summary id="${receiver.id}-label">${receiver.title}</summary>
          <div class="secret">${textToCopy(receiver.id, readReceiver(receiver), `the receiver in ${receiver.title}`)}</div>
        </details>`,
    )}
  </section>`
}
