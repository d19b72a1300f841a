import { invite } from '../../auth/accounts/sign-up.ts'
import { html, renderMessage, secretCard } from '../html.ts'
import type { PageView, SignedInContext } from '../page-context.ts'
import { renderTime } from '../times.ts'

/** Whom a link is for, and who makes it. */
export interface LinkOf {
  readonly userId: string
  readonly name: string
  /** the address that it is mailed to; undefined: none is known */
  readonly email: string | undefined
  /** whether the person has signed up: then the link sets a new password */
  readonly signedUp: boolean
  /** whether the person who makes it may see it. A link is an account: see src/auth/README.md */
  readonly isShown: boolean
  readonly workspace: { readonly id: string; readonly name: string }
  /** the name of the owner or admin who makes it */
  readonly by: string
}

/** Makes a link to sign up, or for a new password, mails it if the service sends mail, and shows it once. An earlier link ends. */
export async function makeLink(context: SignedInContext, of: LinkOf): Promise<PageView> {
  const { web, session, url } = context
  const { userId, name, email, signedUp, isShown, workspace } = of
  const { code, expires_at } = await invite(web, userId, email)
  const link = `${url}/settings/sign-up?code=${code}`
  const isMailed =
    email !== undefined && (await web.mail?.sendLink(session.user_id, { to: email, ...mailOf(of, link, expires_at) })) === true
  const event = {
    event: 'web.link_made',
    user_id: userId,
    workspace_id: workspace.id,
    by: session.user_id,
    mailed: isMailed,
    shown: isShown,
  }
  web.log.info(event, 'a link was made')
  const title = signedUp ? `A link for a new password of ${name}` : `${name} is invited`
  const back = `/settings/workspace/${workspace.id}/members`
  const body = html`
    <h1>${signedUp ? html`A link for a new password of <bdi>${name}</bdi>` : html`<bdi>${name}</bdi> is invited`}</h1>
    ${isMailed && renderMessage('done', `The link is mailed to ${signedUp ? 'their address' : email!}.`)}
    ${!isMailed && !isShown && renderMessage('error', 'The mail was not sent: there were too many in a short time. Try again in an hour.')}
    ${
      isShown &&
      html`${renderMessage('warning', 'The link is shown only this once. Whoever opens it chooses the password: give it to nobody else.')}
        <div data-once>${secretCard('link', html`Link for <bdi>${name}</bdi>`, link, 'the link')}</div>`
    }
    <p>It works once, until ${renderTime(expires_at)}. An earlier link no longer works.</p>
    <p><a class="button primary" href=${back}>Back to the members</a></p>
  `
  return { title, body }
}

/** The mail has no name in its subject: names are texts of people. */
function mailOf({ signedUp, workspace, by }: LinkOf, link: string, expiresAt: string): { readonly subject: string; readonly text: string } {
  const until = `${expiresAt.slice(0, 10)} ${expiresAt.slice(11, 16)} UTC`
  const [subject, first] = signedUp
    ? ['a link for a new password', `${by}, of the workspace "${workspace.name}", sends you a link that sets a new password.`]
    : ['you are invited', `${by} invites you to the workspace "${workspace.name}".`]
  const text = [
    first,
    '',
    `Choose your password here. The link works once, until ${until}:`,
    link,
    '',
    'If you did not expect this, do nothing. Do not forward this mail.',
    '',
  ]
  return { subject: `Lanekeeper: ${subject}`, text: text.join('\n') }
}
