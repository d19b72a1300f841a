import type { VNode } from 'preact'
import type { Membership } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { html, renderMessage } from '../html.ts'
import type { Page } from '../page-context.ts'
import { renderTime } from '../times.ts'
import { toldBy } from '../told.ts'
import { statesOf, type MemberState } from './member-list.ts'
import { ifAllowed } from './permission.ts'

/** What a page has told that was done just before. */
const DONE: Readonly<Record<string, string>> = {
  role: 'The role is changed. It counts from the next request on.',
  ended: 'The membership has ended. Its tokens no longer work.',
  joined: 'They have an account here, and are a member now. They sign in as before, and see it on their pages.',
}

/** The members of a workspace, with the forms that manage them. */
export const membersPage: Page = {
  path: '/settings/workspace/{workspace}/members',
  async get(context) {
    const decided = await ifAllowed(context, 'workspace.members', async (tx, workspace) => ({
      workspace,
      members: (await tx.all(indexes.members(), { weak: true })).values.filter((one) => one !== undefined),
    }))
    if ('page' in decided) return decided.page
    const { workspace, members } = decided.result
    const states = await statesOf(context.web, members)
    const told = toldBy(context)
    const base = `/settings/workspace/${workspace.id}`
    const body = html`
      <h1>Members of <bdi>${workspace.name}</bdi></h1>
      ${Object.entries(DONE).map(([name, text]) => told.has(name) && renderMessage('done', text))}
      <p class="actions">
        <a class="button primary" href="${base}/members/invite">Invite a member</a>
        <a class="button" href=${base}>Tokens and rules</a> ${' '}<a class="button" href="${base}/audit">Audit trail</a>
      </p>
      <ul class="card plain">
        ${members.map((member, i) => renderMember(base, member, states[i]!, context.session.user_id))}
      </ul>
    `
    return { title: `Members of ${workspace.name}`, body }
  },
}

function renderMember(base: string, { user_id, display_name, role }: Membership, state: MemberState, self: string): VNode {
  const path = `${base}/members/${user_id}`
  return html`<li>
    <p>
      <strong dir="auto">${display_name}</strong>${user_id === self && ' (you)'} <span class="state">${role}</span>${' '}
      <span class="hint">${stateText(state)}</span>
    </p>
    <p class="actions">
      ${action(`${path}/role`, 'Change role', display_name)}
      ${action(`${path}/link`, state.signedUp ? 'New password' : 'Send a link', display_name)}
      ${action(`${path}/end`, 'End membership', display_name, 'button danger')}
    </p>
  </li>`
}

function action(path: string, label: string, name: string, className = 'button'): VNode {
  return html`<a class=${className} href=${path}
    >${label}<span class="unseen"> of <bdi>${name}</bdi></span></a
  >`
}

function stateText(state: MemberState): VNode | string {
  if (state.signedUp) return ''
  return state.invitedUntil === null ? 'not signed up, without a link that works' : html`invited until ${renderTime(state.invitedUntil)}`
}
