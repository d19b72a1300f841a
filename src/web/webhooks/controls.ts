import type { VNode } from 'preact'
import { isFollowing, type Webhook } from '../../model/webhook.ts'
import { doButton, doLink, type Controls } from '../boards/controls.ts'
import type { Reader } from '../reader.ts'
import { pathOfWebhook } from './place.ts'

const OPERATIONS = ['webhooks.test', 'webhooks.update', 'webhooks.rotate_secret', 'webhooks.delete']

/** Reads what the person may do with each of several webhooks: not all of them are theirs. */
export async function readMay(reader: Reader, webhooks: readonly Pick<Webhook, 'id'>[]): Promise<readonly ReadonlySet<string>[]> {
  const questions = webhooks.flatMap(({ id }) => OPERATIONS.map((operation) => ({ operation, type: 'webhook', id })))
  const decisions = await reader.allowedOf(questions)
  return webhooks.map((_webhook, i) => new Set(OPERATIONS.filter((_operation, j) => decisions[i * OPERATIONS.length + j])))
}

/**
 * What can be done with a webhook.
 * @param base the path of the workspace
 */
export function renderWebhookControls(controls: Controls, base: string, webhook: Webhook): (VNode | false | undefined)[] {
  const { id: webhook_id, url: about } = webhook
  const of = { webhook_id }
  const look = { about, className: '' }
  const enable = (text: string, given = {}) => doButton(controls, 'webhooks.update', { ...of, enabled: 'true', ...given }, text, look)
  const setting = isFollowing(webhook)
    ? [
        webhook.state === 'failing' && enable('Try again now'),
        doButton(controls, 'webhooks.update', { ...of, enabled: 'false' }, 'Disable', look),
      ]
    : [enable('Enable, go on where it stopped'), enable('Enable from now', { after: 'now' })]
  return [
    doButton(controls, 'webhooks.test', { ...of, back: pathOfWebhook(base, webhook_id) }, 'Test', look),
    ...setting,
    doLink(controls, 'webhooks.update', of, 'Edit', { about, className: 'button' }),
    webhook.has_authorization &&
      doButton(controls, 'webhooks.update', { ...of, authorization: '', 'was.authorization': 'set' }, 'Remove authorization', look),
    doLink(controls, 'webhooks.rotate_secret', of, 'Rotate secret', { about, className: 'button' }),
    doLink(controls, 'webhooks.delete', of, 'Delete', { about, className: 'button danger' }),
  ]
}
