import { z } from 'zod'
import { addMemberIn, linkWorkspace } from '../../admin/memberships.ts'
import { addUser } from '../../admin/users.ts'
import { sha256Hex } from '../../auth/secrets.ts'
import { emailAddress } from '../../model/account.ts'
import { durations, isCurrent } from '../../model/durations.ts'
import { limits } from '../../model/limits.ts'
import { displayName, isActive, roles, type Role, type User } from '../../model/workspace.ts'
import { indexes } from '../../store/indexes.ts'
import { GLOBAL, keys } from '../../store/keys.ts'
import { memberOf } from '../../store/reads.ts'
import { transact } from '../../store/transact.ts'
import { proofPage, withProof, type ProofForm } from '../account/re-authentication.ts'
import { announceTo } from '../alerts.ts'
import { field, type Refusal } from '../form-page.ts'
import { html } from '../html.ts'
import type { Page, PageResponse, SignedInContext, WebServices } from '../page-context.ts'
import { tellingAddress } from '../told.ts'
import { roleField } from './member-forms.ts'
import { makeLink } from './member-links.ts'
import { ifAllowed } from './permission.ts'

const input = z.object({ name: displayName, email: emailAddress, role: z.enum(roles, 'must be owner, admin or member') })
type Invitation = z.infer<typeof input>

/** Who has an address: somebody with an account, somebody who is invited and has not signed up, or nobody. */
type Known = { readonly user: User; readonly signedUp: boolean } | undefined

/** Invites a person by their e-mail address: they are a member at once, and sign up with a link. */
export const invitePage: Page = {
  path: '/settings/workspace/{workspace}/members/invite',
  keeps: ['name', 'email', 'role'],
  async get(context) {
    const decided = await ifAllowed(context, 'workspace.members', async () => undefined)
    if ('page' in decided) return decided.page
    return proofPage(context, inviteForm(context, context.query))
  },
  async post(context) {
    const parsed = input.safeParse(Object.fromEntries(context.form))
    const role: Role = parsed.success ? parsed.data.role : 'member'
    const before = await ifAllowed(
      context,
      'workspace.invite',
      async () => undefined,
      async () => ({ given: { role } }),
    )
    if ('page' in before) return before.page
    const form = inviteForm(context, context.form, parsed.success ? undefined : { errors: z.flattenError(parsed.error).fieldErrors })
    if (!parsed.success) return proofPage(context, form, { status: 422 })
    return withProof(context, form, (proved) => inviteAs(proved, parsed.data))
  },
}

function inviteForm({ params }: SignedInContext, values: URLSearchParams, refusal?: Refusal): ProofForm {
  return {
    title: 'Invite a member',
    above: html`<p>
      They get a link, which works once within 7 days. They choose their password there, and are a member from now on. If they have an
      account here already, they need no link.
    </p>`,
    fields: html`
      ${field({ name: 'name', label: 'Name', hint: 'All members see it.', required: true, maxlength: limits.displayName, dir: 'auto', autocomplete: 'off', value: values.get('name') ?? '' }, refusal)}
      ${field({ name: 'email', label: 'E-mail address', type: 'email', required: true, maxlength: limits.email, autocomplete: 'off', value: values.get('email') ?? '' }, refusal)}
      ${roleField(values.get('role') ?? 'member', refusal?.errors?.['role']?.[0])}
    `,
    button: 'Invite',
    cancel: `/settings/workspace/${params['workspace']!}/members`,
  }
}

async function inviteAs(context: SignedInContext, invitation: Invitation): Promise<PageResponse> {
  const { web, session, params } = context
  const { name, email, role } = invitation
  const workspaceId = params['workspace']!
  const refuse = (error: string) => proofPage(context, inviteForm(context, context.form, { errors: { email: [error] } }), { status: 409 })
  const known = await findKnown(web, email)
  const present = known && (await transact(web.store, workspaceId, web.random, (tx) => tx.get(keys.membership(known.user.id))))
  if (isActive(present))
    return refuse(`belongs to ${present.display_name}, who is a member already. To send them a link again, go back to the list.`)
  // A new link would end the one that they have, and whoever sees it would get what the other workspace trusts them with.
  if (known?.signedUp === false) return refuse('is invited to another workspace here. Invite them when they have signed up.')

  const user = known?.user ?? (await addUser(web, { display_name: name }))
  await linkWorkspace(web, workspaceId, user.id)
  for (;;) {
    const decided = await ifAllowed(
      context,
      'workspace.invite',
      async (tx, workspace, person) => ({ workspace, person, member: await addMemberIn(tx, web, user, role) }),
      async () => ({ given: { role } }),
    )
    if ('page' in decided) return decided.page
    const { workspace, person, member } = decided.result
    if (member === undefined) continue
    const by = person.display_name
    web.log.info({ event: 'web.invited', user_id: user.id, workspace_id: workspaceId, by: session.user_id, role }, 'a member was invited')
    const audit = { operation: 'web.workspace.invite', workspaceId, ids: [user.id], rows: [decided.row], subjectId: user.id }
    if (known === undefined) {
      const page = await makeLink(context, { userId: user.id, name, email, signedUp: false, isShown: true, workspace, by })
      return { ...page, audit }
    }
    await endLink(web, user.id)
    await announceTo(context, user.id, 'workspace_joined', { by, workspace: workspace.name })
    return { redirect: tellingAddress(context, `/settings/workspace/${workspaceId}/members`, { joined: '' }), audit }
  }
}

/** Finds who has an address. */
async function findKnown({ store, random, clock }: WebServices, email: string): Promise<Known> {
  return transact(store, GLOBAL, random, async (tx) => {
    const emailKey = keys.accountEmail(sha256Hex(email))
    const [, account] = await tx.read([emailKey, keys.account(memberOf(emailKey, 'user_id'))])
    const invited = (await tx.all(indexes.signUpsFor(sha256Hex(email)))).values.find(
      (one) => one !== undefined && isCurrent(one.expires_at, durations.signUpLink, clock()),
    )
    const userId = account?.user_id ?? invited?.user_id
    const user = userId === undefined ? undefined : await tx.get(keys.user(userId))
    return user && { user, signedUp: account !== undefined || (await tx.get(keys.account(user.id))) !== undefined }
  })
}

/** Ends the link of somebody who joins another workspace: an owner of the first one may have seen it. */
async function endLink({ store, random }: WebServices, userId: string): Promise<void> {
  await transact(store, GLOBAL, random, async (tx) => {
    if ((await tx.get(keys.signUp(userId))) !== undefined) tx.remove(keys.signUp(userId))
  })
}
