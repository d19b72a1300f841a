import type { AuthorizationContext, Caller } from '../../authz/context.ts'
import { factsFor, isAuthenticated } from '../../authz/facts.ts'
import type { Decision, Engine } from '../../policy/engine.ts'
import { webActions, type WebActionId } from '../../resources/web-actions.ts'
import { isId } from '../../model/ids.ts'
import type { Membership, Workspace } from '../../model/workspace.ts'
import { keys } from '../../store/keys.ts'
import { transact } from '../../store/transact.ts'
import type { Transaction } from '../../store/transaction.ts'
import { errorPage, notFoundPage } from '../error-pages.ts'
import type { PageView, SignedInContext } from '../page-context.ts'

/** The decision about a person who wants to do something in the web app. */
type WebDecision = Pick<Decision, 'outcome' | 'row' | 'reason'>

/** The result if it was allowed; otherwise the page to show. */
export type Decided<T> = { readonly result: T; readonly row: string } | { readonly page: PageView }

/**
 * Does something in a workspace if the permission table allows it to the person who is signed in. The decision and what is done rely on the
 * same snapshot, and belong to one commit.
 * @param run gets the membership of the person, too
 * @param load reads what the decision is about besides that person; undefined: it does not exist
 * @returns the result, or the page that the decision leads to: to someone who is not a member, the workspace does not exist
 */
export async function ifAllowed<T>(
  { web, session, params }: Pick<SignedInContext, 'web' | 'session' | 'params'>,
  id: WebActionId,
  run: (tx: Transaction, workspace: Workspace, person: Membership) => Promise<T>,
  load: (tx: Transaction) => Promise<AuthorizationContext | undefined> = async () => ({}),
): Promise<Decided<T>> {
  const workspaceId = params['workspace']!
  if (!isId('workspace', workspaceId)) return { page: notFoundPage() }
  return transact(web.store, workspaceId, web.random, async (tx): Promise<Decided<T>> => {
    const [workspace, membership] = await tx.read([keys.workspace(), keys.membership(session.user_id)])
    if (workspace === undefined || membership === undefined) return { page: notFoundPage() }
    const caller = { userId: session.user_id, workspaceId, membership, isSession: true } as const
    const about = await load(tx)
    if (about === undefined) return { page: notFoundPage() }
    const decision = decide(web.services().engine, id, caller, about)
    if (decision?.outcome === 'allowed') return { result: await run(tx, workspace, membership), row: decision.row }
    if (decision?.outcome !== 'forbidden') return { page: notFoundPage() }
    const page = errorPage(403, 'You may not do this', `Row ${decision.row} of the policy decides: ${reasonOf(decision)}`)
    return { page: { ...page, audit: { operation: `web.${id}`, workspaceId, rows: [decision.row] } } }
  })
}

/** What the permission table decides; undefined: the person has left, so nothing is decided. */
function decide(engine: Engine, id: WebActionId, caller: Caller, about: AuthorizationContext): WebDecision | undefined {
  const { permission } = webActions.find((action) => action.id === id)!
  const facts = factsFor(engine.vocabulary, engine.vocabulary.permissions.get(permission)!.groups, caller, about)
  return isAuthenticated(facts) ? engine.decide(permission, facts) : undefined
}

function reasonOf({ reason }: WebDecision): string {
  return reason.slice(reason.indexOf(': ') + 1).trim()
}
