import type { Operation } from '../resources/operation.ts'
import { publicText, type PublicText } from './public-text.ts'

/**
 * The parameters of endpoints (AuthZEN 1.0 §9.1.1) → what answers them. What others may do is not answered, so there is no search for
 * subjects.
 */
const ENDPOINTS = {
  access_evaluation_endpoint: 'access.evaluate',
  access_evaluations_endpoint: 'access.evaluate_all',
  search_resource_endpoint: 'access.search_resource',
  search_action_endpoint: 'access.search_action',
} as const

/**
 * The metadata document of the OpenID AuthZEN Authorization API 1.0 (§9).
 * @param url the public URL, which identifies the service
 */
export function authzenConfiguration(operations: readonly Operation[], url: string): PublicText {
  const endpoints = Object.entries(ENDPOINTS).map(([name, id]) => [name, `${url}/v1${operations.find((row) => row.id === id)!.path}`])
  const metadata = { policy_decision_point: url, ...Object.fromEntries(endpoints) }
  return publicText('application/json; charset=utf-8', JSON.stringify(metadata))
}
