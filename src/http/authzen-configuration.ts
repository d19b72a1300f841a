import { decisionPointRows } from '../resources/access/authzen.ts'
import { DECISION_POINT_PATH } from './authzen-form.ts'
import { publicText, type PublicText } from './public-text.ts'

/** The parameters of the endpoints (AuthZEN 1.0 §9.1.1) → what answers them. */
const ENDPOINTS = {
  access_evaluation_endpoint: 'access.evaluate',
  access_evaluations_endpoint: 'access.evaluate_all',
  search_subject_endpoint: 'access.search_subject',
  search_resource_endpoint: 'access.search_resource',
  search_action_endpoint: 'access.search_action',
} as const

/**
 * The metadata document of the OpenID AuthZEN Authorization API 1.0 (§9).
 * @param url the public URL, which identifies the service
 */
export function authzenConfiguration(url: string): PublicText {
  const pathOf = (id: string) => DECISION_POINT_PATH + decisionPointRows.find((row) => row.id === id)!.path
  const endpoints = Object.entries(ENDPOINTS).map(([name, id]) => [name, url + pathOf(id)])
  const metadata = { policy_decision_point: url, ...Object.fromEntries(endpoints) }
  return publicText('application/json; charset=utf-8', JSON.stringify(metadata))
}
