import type { VNode } from 'preact'
import { endMembershipIn, setRoleIn } from '../../admin/memberships.ts'
import { roles, type Membership, type Role, type Workspace } from '../../model/workspace.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { proofPage, withProof, type ProofForm } from '../account/re-authentication.ts'
import { announceTo } from '../alerts.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import { html } from '../html.ts'
import type { Page, PageResponse, SignedInContext } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { makeLink } from './member-links.ts'
import { findMember, isElsewhere, isLastOwner } from './member-list.ts'
import { ifAllowed } from './permission.ts'

const LAST_OWNER = 'A workspace keeps at least one owner, and this is the last one. Make another member an owner first.'

/** The choice of a role. */
export function roleField(chosen: string, error?: string): VNode {
  return html`<div class="field">
    <label for="role">Role</label>
    <p class="hint" id="role-hint">Admins manage members and tokens. Only owners make, change and end owners.</p>
    <select id="role" name="role" aria-describedby="role-hint">
      ${roles.toReversed().map((one) => html`<option value=${one} selected=${one === chosen}>${one}</option>`)}
    </select>
    ${error && html`<p class="error">${error}</p>`}
  </div>`
}

/** What the forms of a member are about. */
interface About {
  readonly workspace: Workspace
  readonly member: Membership
  /** the person who fills in the form */
  readonly person: Membership
}

/** Changes the role of a member. */
export const memberRolePage: Page = {
  path: '/settings/workspace/{workspace}/members/{user}/role',
  async get(context) {
    const about = await decideAbout(context, 'workspace.members')
    return 'page' in about ? about.page : proofPage(context, roleForm(about.result))
  },
  async post(context) {
    const given = roles.find((one) => one === context.form.get('role'))
    const decided = given && (await decideRole(context, given, async () => undefined))
    if (decided !== undefined && 'page' in decided) return decided.page
    const about = await decideAbout(context, 'workspace.members')
    if ('page' in about) return about.page
    const form = roleForm(about.result)
    return given === undefined
      ? proofPage(context, form, { error: 'Choose a role.' })
      : withProof(context, form, (proved) => changeRole(proved, given))
  },
}

function roleForm({ workspace, member }: About): ProofForm {
  return {
    title: 'Change role',
    heading: html`Change the role of <bdi>${member.display_name}</bdi>`,
    fields: roleField(member.role),
    button: 'Save',
    cancel: membersPath(workspace),
  }
}

/** Decides about the role that a member has and the one that they get. */
function decideRole<T>(context: SignedInContext, given: Role, run: Parameters<typeof ifAllowed<T>>[2]) {
  return ifAllowed(context, 'workspace.change_role', run, async (tx) => {
    const member = await findMember(tx, context.params['user']!)
    return member && { member, given: { role: given } }
  })
}

async function changeRole(context: SignedInContext, given: Role): Promise<PageResponse> {
  const { web, session, params } = context
  const decided = await decideRole(context, given, async (tx, workspace, person) => {
    const member = (await findMember(tx, params['user']!))!
    if (member.role === given) return { workspace, member, person, done: 'nothing' as const }
    if (await isLastOwner(tx, member)) return { workspace, member, person, done: 'refused' as const }
    setRoleIn(tx, member, given, web.clock)
    return { workspace, member, person, done: 'changed' as const }
  })
  if ('page' in decided) return decided.page
  const { workspace, member, person, done } = decided.result
  if (done === 'refused') return lastOwnerPage()
  const redirect = tellingAddress(context, membersPath(workspace), { role: '' })
  if (done === 'nothing') return { redirect, audit: false }
  const event = { event: 'web.role_changed', user_id: member.user_id, workspace_id: workspace.id, by: session.user_id, role: given }
  web.log.info(event, 'a role was changed')
  await announceTo(context, member.user_id, 'role_changed', { by: person.display_name, workspace: workspace.name })
  return { redirect, audit: auditOf('web.workspace.change_role', workspace, member, decided.row) }
}

/** A form about a member, which the permission table decides about when it is shown and when it is sent. */
function memberPage(
  name: string,
  id: MemberAction,
  formOf: (about: About) => ProofForm,
  perform: (proved: SignedInContext) => Promise<PageResponse>,
): Page {
  return {
    path: `/settings/workspace/{workspace}/members/{user}/${name}`,
    async get(context) {
      const about = await decideAbout(context, id)
      return 'page' in about ? about.page : proofPage(context, formOf(about.result))
    },
    async post(context) {
      const about = await decideAbout(context, id)
      return 'page' in about ? about.page : withProof(context, formOf(about.result), perform)
    },
  }
}

/** Ends a membership. */
export const endMembershipPage: Page = {
  ...memberPage('end', 'workspace.end_membership', endForm, endMembership),
  endsAccess: true,
}

function endForm({ workspace, member, person }: About): ProofForm {
  const isSelf = member.user_id === person.user_id
  const [who, whom] = isSelf ? ['you are', 'you'] : ['they are', 'they']
  const effect =
    ` stop working immediately, and ${who} removed from its boards and cards. What ${whom} wrote stays. ` +
    'A new invitation restores none of it.'
  return {
    title: 'End membership',
    heading: isSelf ? html`Leave <bdi>${workspace.name}</bdi>?` : html`End the membership of <bdi>${member.display_name}</bdi>?`,
    fields: html`<p>${isSelf ? 'Your' : 'Their'} tokens in <bdi>${workspace.name}</bdi>${effect}</p>`,
    button: 'End membership',
    isDanger: true,
    cancel: membersPath(workspace),
  }
}

async function endMembership(context: SignedInContext): Promise<PageResponse> {
  const { web, session } = context
  const decided = await decideAbout(context, 'workspace.end_membership', async (tx, member) => {
    if (await isLastOwner(tx, member)) return false
    return endMembershipIn(tx, web, member.user_id, member.user_id === session.user_id ? undefined : session.user_id)
  })
  if ('page' in decided) return decided.page
  const { workspace, member, person, result } = decided.result
  if (!result) return lastOwnerPage()
  await endUnusedLink(context, member.user_id)
  web.log.info(
    { event: 'web.membership_ended', user_id: member.user_id, workspace_id: workspace.id, by: session.user_id },
    'a membership ended',
  )
  await announceTo(context, member.user_id, 'membership_ended', { by: person.display_name, workspace: workspace.name })
  const redirect = member.user_id === session.user_id ? '/app' : tellingAddress(context, membersPath(workspace), { ended: '' })
  return { redirect, audit: auditOf('web.workspace.end_membership', workspace, member, decided.row) }
}

/** Whoever has not signed up yet loses their invitation with their only membership. */
async function endUnusedLink({ web, params }: SignedInContext, userId: string): Promise<void> {
  if (await isElsewhere(web, userId, params['workspace']!)) return
  await transact(web.store, GLOBAL, web.random, async (tx) => {
    const [account, link] = await tx.read([keys.account(userId), keys.signUp(userId)])
    if (account === undefined && link !== undefined) tx.remove(keys.signUp(userId))
  })
}

/** Sends a member a link: to sign up, or for a new password. */
export const memberLinkPage: Page = memberPage('link', 'workspace.send_link', linkForm, sendLink)

function linkForm({ workspace, member }: About): ProofForm {
  return {
    title: 'Send a link',
    heading: html`Send <bdi>${member.display_name}</bdi> a link?`,
    fields: html`<p>
      With it they choose a password, also in place of one that they lost. It works once within 7 days, and ends an earlier link. Their
      second factor stays.
    </p>`,
    button: 'Send a link',
    cancel: membersPath(workspace),
  }
}

async function sendLink(context: SignedInContext): Promise<PageResponse> {
  const { web, params } = context
  const decided = await decideAbout(context, 'workspace.send_link')
  if ('page' in decided) return decided.page
  const { workspace, member, person } = decided.result
  const { user_id: userId, display_name: name } = member
  const [account, link] = await transact(web.store, GLOBAL, web.random, (tx) => tx.read([keys.account(userId), keys.signUp(userId)]))
  const signedUp = account !== undefined
  if (signedUp && !web.hasPasswords)
    return errorPage(409, 'No link was made', 'People have no passwords here: they sign in with the identity provider.')
  const email = account?.email ?? link?.email
  // Whoever sees a link can become that person: in each workspace of theirs, and on private boards. So it goes to their own address alone.
  const isShown = !(await isElsewhere(web, userId, params['workspace']!)) && (!signedUp || web.mail === undefined)
  if (!isShown && (web.mail === undefined || email === undefined))
    return errorPage(409, 'No link was made', `${name} is a member of another workspace, too. Ask the operator of this service for a link.`)
  const by = person.display_name
  const page = await makeLink(context, { userId, name, email, signedUp, isShown, workspace, by })
  if (signedUp) await announceTo(context, userId, 'link_made', { by, workspace: workspace.name })
  return { ...page, audit: auditOf('web.workspace.send_link', workspace, member, decided.row) }
}

/** What is decided by the member alone. The role that a form gives is not known when the form is shown: whoever may list members sees it. */
type MemberAction = 'workspace.members' | 'workspace.end_membership' | 'workspace.send_link'

/** Decides about a member, and does something in the same commit. */
async function decideAbout<T>(
  context: SignedInContext,
  id: MemberAction,
  run: (tx: Transaction, member: Membership) => Promise<T | undefined> = async () => undefined,
) {
  const userId = context.params['user']!
  const decided = await ifAllowed(
    context,
    id,
    async (tx, workspace, person) => {
      const member = await findMember(tx, userId)
      return member && { workspace, member, person, result: await run(tx, member) }
    },
    async (tx) => {
      const member = await findMember(tx, userId)
      return member && { member }
    },
  )
  if ('page' in decided) return decided
  return decided.result === undefined ? { page: notFoundPage() } : { result: decided.result, row: decided.row }
}

function lastOwnerPage() {
  return errorPage(409, 'The last owner stays', LAST_OWNER)
}

function membersPath({ id }: Pick<Workspace, 'id'>): string {
  return `/settings/workspace/${id}/members`
}

function auditOf(operation: string, { id }: Workspace, { user_id }: Membership, row: string) {
  return { operation, workspaceId: id, ids: [user_id], rows: [row], subjectId: user_id }
}
