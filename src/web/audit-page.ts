import type { AuditRecorder } from '../audit/recorder.ts'
import { DENIED } from '../http/audit-observer.ts'
import type { Session } from '../model/account.ts'
import { isAnyId, isId } from '../model/ids.ts'
import { GLOBAL } from '../store/keys.ts'
import type { PageAudit, PageContext, PageResponse } from './page-context.ts'

/**
 * Adds what a page did to the audit trail: each form of a person who is signed in, and what a page states in addition. The operation and
 * the resources follow from the address of the page.
 */
export function auditPage(context: PageContext, pattern: string, session: Session | undefined, response: PageResponse): void {
  const { web, request } = context
  const { audit: stated } = response
  if (web.audit === undefined || stated === false || (stated === undefined && (request.method !== 'POST' || session === undefined))) return
  for (const one of Array.isArray(stated) ? (stated as readonly PageAudit[]) : [stated as PageAudit | undefined])
    addEntry(web.audit, context, pattern, session, response, one)
}

function addEntry(
  audit: AuditRecorder,
  { request, address, requestId, params }: PageContext,
  pattern: string,
  session: Session | undefined,
  response: PageResponse,
  stated: PageAudit | undefined,
): void {
  const status = 'redirect' in response ? 303 : 'raw' in response ? response.raw.status : (response.status ?? 200)
  const outcome = stated?.outcome ?? (status < 400 ? 'done' : DENIED.has(status) ? 'denied' : undefined)
  const userId = stated?.userId ?? session?.user_id
  if (outcome === undefined || userId === undefined) return
  const ofPath = params['workspace'] !== undefined && isId('workspace', params['workspace']) ? params['workspace'] : undefined
  // A workspace that the person is no member of does not get entries from them.
  const workspaceId = stated?.workspaceId ?? (outcome === 'done' ? ofPath : undefined)
  const ofParams = Object.values(params).filter((value) => isAnyId(value) && value !== workspaceId)
  audit.add(workspaceId ?? GLOBAL, {
    user_id: userId,
    operation: stated?.operation ?? operationOf(pattern),
    ids: stated?.ids ?? ofParams,
    rows: stated?.rows ?? [],
    outcome,
    status,
    request_id: requestId,
    address,
    agent: request.headers.get('user-agent'),
    ...(stated?.subjectId !== undefined && stated.subjectId !== userId && { subject_id: stated.subjectId }),
  })
}

/** `/settings/tokens/{workspace}/{token}/revoke` → `web.tokens.revoke` */
function operationOf(pattern: string): string {
  const words = pattern.split('/').filter((word) => word !== '' && word !== 'settings' && !word.startsWith('{'))
  return `web.${words.join('.').replaceAll('-', '_')}`
}
