import { resumeSession } from '../auth/accounts/sessions.ts'
import { sha256Hex } from '../auth/secrets.ts'
import { GLOBAL, keys } from '../store/keys.ts'
import { StorageUnavailable } from '../store/port.ts'
import { memberOf } from '../store/reads.ts'
import { transact } from '../store/transact.ts'
import { cookieOf } from './cookies.ts'
import type { PageContext, Visit } from './page-context.ts'

/** The valid session of a request, if it has one. It is read together with the records that belong to it. */
export async function findVisit(context: PageContext): Promise<Visit | undefined> {
  const { web } = context
  const secret = cookieOf(context, 'session')
  if (secret === undefined) return undefined
  let visit: Visit | undefined
  try {
    return await transact(web.store, GLOBAL, web.random, async (tx) => {
      visit = undefined
      const key = keys.session(sha256Hex(secret))
      const userId = memberOf(key, 'user_id')
      const [, factor, stored] = await tx.read([key, keys.secondFactor(userId), keys.alerts(userId)])
      const session = await resumeSession(tx, secret, web)
      if (session === undefined) return undefined
      const protection = { hasAuthenticator: factor?.authenticator != null, passkeys: factor?.passkeys.length ?? 0 }
      const alerts = stored?.alerts.filter(({ session_id }) => session_id === null || session_id !== session.id) ?? []
      const mayDismiss = !stored?.alerts.some(({ kind, session_id }) => kind === 'new_sign_in' && session_id === session.id)
      return (visit = { session, protection, alerts, mayDismiss })
    })
  } catch (error) {
    // That the session was used cannot be stored while storage is full. Tokens can be revoked even then.
    if (error instanceof StorageUnavailable && error.outcomeKnown && visit !== undefined) return visit
    throw error
  }
}
