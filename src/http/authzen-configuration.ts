import { DECISION_POINT_PATH } from './authzen-form.ts'
import { publicText, type PublicText } from './public-text.ts'

/** The parameters of the endpoints (AuthZEN 1.0 §9.1.1) → their default paths below {@link DECISION_POINT_PATH} (§10.1). */
const ENDPOINTS = {
  access_evaluation_endpoint: '/evaluation',
  access_evaluations_endpoint: '/evaluations',
  search_subject_endpoint: '/search/subject',
  search_resource_endpoint: '/search/resource',
  search_action_endpoint: '/search/action',
} as const

/**
 * The metadata document of the OpenID AuthZEN Authorization API 1.0 (§9).
 * @param url the public URL, which identifies the service
 */
export function authzenConfiguration(url: string): PublicText {
  const endpoints = Object.entries(ENDPOINTS).map(([name, path]) => [name, url + DECISION_POINT_PATH + path])
  const metadata = { policy_decision_point: url, ...Object.fromEntries(endpoints) }
  return publicText('application/json; charset=utf-8', JSON.stringify(metadata))
}
