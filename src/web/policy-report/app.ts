import type { Logger } from 'pino'
import type { ServerRequest } from 'srvx'
import { publicText, respondWithText, type PublicText } from '../../http/public-text.ts'
import type { PublicUrl } from '../../http/public-url.ts'
import type { Services } from '../../http/services.ts'
import { securityHeaders } from '../security-headers.ts'
import { renderReport, reportSecurityPolicy } from './page.ts'

/**
 * The report of the policy at `/policies`. It contains no stored data. It is rendered for the policy that decides at the time of the
 * request, once for each.
 * @param current the services at the time of a request
 * @returns the handler of its requests; it never throws
 */
export function createPolicyPage(
  log: Logger,
  current: () => Pick<Services, 'engine' | 'operations'>,
  site: PublicUrl,
): (request: ServerRequest) => Promise<Response> {
  let rendered: { readonly hash: string; readonly page: PublicText } | undefined
  const find = (): PublicText => {
    const { engine, operations } = current()
    if (rendered?.hash !== engine.hash)
      rendered = { hash: engine.hash, page: publicText('text/html; charset=utf-8', renderReport(engine, operations, undefined, site.base)) }
    return rendered.page
  }
  return (request) => {
    const { vary: _cookies, ...security } = securityHeaders(site.originFor(request))
    const policy = `${reportSecurityPolicy}; frame-ancestors 'none'`
    return respondWithText(log, request, find, { ...security, 'content-security-policy': policy })
  }
}
