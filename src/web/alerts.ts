import type { VNode } from 'preact'
import { addAlert, dismissAlerts } from '../auth/accounts/alerts.ts'
import type { Alert, AlertKind, Passkey } from '../model/second-factor.ts'
import type { Addressee, AlertMails } from '../mail/alert-mails.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { transact } from '../store/transact.ts'
import { postForm } from './form-page.ts'
import { html } from './html.ts'
import { renderTime } from './times.ts'
import type { Page, PageContext, Visit } from './page-context.ts'

/**
 * The text of each kind of alert.
 * @param name the name of the token, passkey or workspace
 */
const sentences: Readonly<Record<AlertKind, (name: string) => string>> = {
  new_sign_in: () => 'Someone signed in from a browser that was not known before.',
  token_created: (name) => `The token "${name}" was created.`,
  password_changed: () => 'Your password was changed.',
  authenticator_added: () => 'An authenticator app was added to your account.',
  authenticator_removed: () => 'The authenticator app was removed from your account.',
  recovery_codes_made: () => 'New recovery codes were made. The earlier ones no longer work.',
  recovery_code_used: () => 'A recovery code was used to sign in.',
  passkey_added: (name) => `The passkey "${name}" was added to your account.`,
  passkey_removed: (name) => `The passkey "${name}" was removed from your account.`,
  identity_bound: () =>
    'The identity provider signs you in to your account from now on. Anyone who knows its password can still sign in, too.',
  workspace_joined: (name) => `You are now a member of the workspace "${name}".`,
  role_changed: (name) => `Your role in the workspace "${name}" was changed.`,
  membership_ended: (name) => `Your membership of the workspace "${name}" has ended. Your tokens there no longer work.`,
  link_made: (name) => `In the workspace "${name}", a link was made that sets a new password of your account.`,
}

/** What an owner or admin of a workspace does, and not the person of the account. */
const BY_OTHERS: ReadonlySet<AlertKind> = new Set<AlertKind>(['workspace_joined', 'role_changed', 'membership_ended', 'link_made'])

/** The alerts of a person, above each page until they dismiss them: one line, which opens. */
export function renderAlerts({ alerts, mayDismiss, session }: Visit): VNode | undefined {
  if (alerts.length === 0) return undefined
  const newest = alerts.toReversed()
  const dismissal = html`${alerts.map(({ id }) => html`<input type="hidden" name="alert" value=${id} />`)}<button>Dismiss</button>`
  return html`<section class="card alerts" aria-label="What happened in your account">
    <details>
      <summary>
        <span><strong>Your account:</strong> ${sentenceOf(newest[0]!)}</span>
        ${newest.length > 1 && html`<span class="state">${newest.length}<span class="unseen"> alerts</span></span>`}
      </summary>
      ${renderList(newest)}
      <p class="hint">
        If this was not you, <a href="/settings/account">end the sessions that you do not know</a>, and change what you sign in with.
      </p>
      ${
        mayDismiss
          ? postForm({ action: alertsPage.path, token: session.form_token, fields: dismissal }, null)
          : html`<p class="hint">
              This browser is new. Dismiss this in a browser that you have used before, or when you sign in here the next time.
            </p>`
      }
    </details>
  </section>`
}

function sentenceOf({ kind, name }: Pick<Alert, 'kind' | 'name'>): string {
  return sentences[kind](name ?? '')
}

function renderList(alerts: readonly Alert[]): VNode {
  return html`<ul>
    ${alerts.map(
      ({ at, agent, address, ...alert }) =>
        html`<li>
          ${sentenceOf(alert)}${' '}
          <span class="hint">${renderTime(at)}, ${BY_OTHERS.has(alert.kind) ? `by ${agent}` : `${agent}, ${address}`}</span>
        </li>`,
    )}
  </ul>`
}

/** Dismisses the alerts that a page has shown. One that came later stays. */
export const alertsPage: Page = {
  path: '/settings/account/alerts',
  async post({ web, session, form, alerts, mayDismiss }) {
    if (!mayDismiss) return { redirect: '/settings/account', audit: false }
    // A session does not dismiss what it did itself: the other browsers of the person must see it.
    const shown = new Set(form.getAll('alert').filter((id) => alerts.some((alert) => alert.id === id)))
    await transact(web.store, GLOBAL, web.random, (tx) => dismissAlerts(tx, session.user_id, shown))
    return { redirect: '/settings/account' }
  },
}

/**
 * Notifies a person of an act in this session: on the pages of their other sessions and of later ones, and by mail. It has
 * been done already, so a failure is only logged.
 */
export async function announce(context: PageContext & Pick<Visit, 'session'>, kind: AlertKind, name: string | null = null): Promise<void> {
  const { web, session, url, agent, address } = context
  // The person who is bound to an account sees it too: somebody else may have its password.
  const members = { kind, agent, address, session_id: kind === 'identity_bound' ? null : session.id, name }
  try {
    const [account, alert] = await transact(web.store, GLOBAL, web.random, async (tx) => [
      await tx.get(keys.account(session.user_id)),
      await addAlert(tx, session.user_id, members, web),
    ])
    if (account !== undefined) mailAlert(web.mail, url, account, alert)
  } catch (error) {
    web.log.error({ event: 'web.alert_failed', user_id: session.user_id, kind, err: error }, 'an alert was not stored')
  }
}

/**
 * Notifies a member of what an owner or admin of their workspace did, on their pages and by mail. It has been done already, so a failure is
 * only logged. Somebody without an account has no pages yet.
 * @param by the name of the owner or admin
 * @param workspace the name of the workspace
 */
export async function announceTo(
  { web, url }: PageContext,
  userId: string,
  kind: AlertKind,
  { by, workspace }: { readonly by: string; readonly workspace: string },
): Promise<void> {
  try {
    const found = await transact(web.store, GLOBAL, web.random, async (tx) => {
      const account = await tx.get(keys.account(userId))
      if (account === undefined) return undefined
      return { account, alert: await addAlert(tx, userId, { kind, agent: by, address: '', session_id: null, name: workspace }, web) }
    })
    if (found !== undefined) mailAlert(web.mail, url, found.account, found.alert)
  } catch (error) {
    web.log.error({ event: 'web.alert_failed', user_id: userId, kind, err: error }, 'an alert was not stored')
  }
}

/**
 * Logs a change of an account, and notifies its person.
 * @param passkey that is changed
 */
export async function reportChange(
  context: PageContext & Pick<Visit, 'session'>,
  kind: AlertKind,
  passkey?: Pick<Passkey, 'id' | 'name'>,
): Promise<void> {
  const { web, session, address } = context
  const event = { event: `web.${kind}`, user_id: session.user_id, passkey: passkey?.id, address }
  web.log.info(event, kind.replaceAll('_', ' '))
  await announce(context, kind, passkey?.name)
}

/**
 * Sends an alert by mail, if the service sends mail. It has no secret, and no link that could be imitated to steal one.
 * @param url of the service
 */
export function mailAlert(mail: AlertMails | undefined, url: string, to: Addressee, alert: Alert): void {
  const { at, agent, address } = alert
  const sentence = sentenceOf(alert)
  const time = `Time: ${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
  const lines = BY_OTHERS.has(alert.kind)
    ? [time, `By: ${agent}`, '', `If you did not expect this, ask them. Your account is at ${url}.`]
    : [
        time,
        `Browser: ${agent}`,
        `Network: ${address}`,
        '',
        `If this was not you, sign in at ${url}, end the sessions that you do not know, and change what you sign in with.`,
      ]
  const text = [sentence, '', ...lines, ''].join('\n')
  void mail?.send(to, alert, { subject: `Lanekeeper: ${sentence}`, text })
}
