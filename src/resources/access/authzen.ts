import { createHash } from 'node:crypto'
import { z } from 'zod'
import { decodeCursor } from '../../listing/pages.ts'
import type { ApiError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { describeIssue, invalidMember, validationFailed } from '../../model/validation.ts'
import { Ability, type Operation, type OperationRequest } from '../operation.ts'
import { accessOperations, toPage } from './operations.ts'
import { semantics, type EvaluationResult, type Semantic } from './schema.ts'
import type { Found, FoundAction, SearchPage } from './search-schema.ts'

// The Authorization API 1.0 of OpenID AuthZEN, as the specification has it: its bodies, its addresses, its tolerance. The rows of
// operations.ts say what is asked and which permission it needs. Members that nobody knows are ignored, and null is the same as a member
// that is left out.

const record = z.record(z.string(), z.unknown()).nullish()
/** What an action changes: null is a value of a body. */
const properties = record.transform((given) => given ?? undefined)
/** What a subject or a resource states. */
const names = properties.transform((given) => given && Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)))
const context = record

const subject = z.object({ type: z.string(), id: z.string(), properties: names })
const action = z.object({ name: z.string(), properties })
const resource = z.object({ type: z.string(), id: z.string(), properties: names })
const question = z.object({ subject, action, resource, context })

/** An entity that is searched for: an id is ignored. */
const searched = z.object({ type: z.string(), properties: names })
const page = z.object({ token: z.string().nullish(), limit: z.int().min(0).nullish() }).nullish()

const options = z.object({ evaluations_semantic: z.enum(semantics).nullish() }).nullish()
const boxcar = z.object({
  subject: subject.nullish(),
  action: action.nullish(),
  resource: resource.nullish(),
  context,
  evaluations: z.array(z.unknown()).max(limits.evaluations).nullish(),
  options,
})
/** Without items, it is one question (§7.1). */
const evaluations = boxcar.superRefine((body, { addIssue }) => {
  if (!isOne(body)) return
  for (const name of ['subject', 'action', 'resource'] as const)
    if (body[name] == null) addIssue({ code: 'custom', path: [name], message: 'is missing' })
})

function isOne({ evaluations: items }: z.output<typeof boxcar>): boolean {
  return items == null || items.length === 0
}

const subjectSearch = z.object({ subject: searched, action, resource, context, page })
const resourceSearch = z.object({ subject, action, resource: searched, context, page })
const actionSearch = z.object({ subject, resource, context, page })

export type AskedQuestion = Omit<z.output<typeof question>, 'context'>
export type AskedSubjects = Pick<z.output<typeof subjectSearch>, 'subject' | 'action' | 'resource'>
export type AskedResources = Pick<z.output<typeof resourceSearch>, 'subject' | 'action' | 'resource'>
export type AskedActions = Pick<z.output<typeof actionSearch>, 'subject' | 'resource'>

/** An entity that was found. */
interface Entity {
  readonly type: string
  readonly id: string
}

/** Decides what the calling token, or a member, may do. What is unknown is no error: nobody may do it. */
export interface DecisionPoint {
  /** @throws {ApiError} `forbidden` if it is about another person whom the caller may not ask about */
  evaluate(asked: AskedQuestion): Promise<EvaluationResult>
  /** @param asked an error: this item is no question, and is its answer */
  evaluateAll(asked: readonly (AskedQuestion | ApiError)[], semantic: Semantic): Promise<EvaluationResult[]>
  findSubjects(asked: AskedSubjects, page: SearchPage): Promise<Found<Entity>>
  /** @throws {ApiError} `forbidden`, `validation_failed` if resources of this type cannot be searched for */
  findResources(asked: AskedResources, page: SearchPage): Promise<Found<Entity>>
  /** @throws {ApiError} `forbidden` */
  findActions(asked: AskedActions, page: SearchPage): Promise<Found<FoundAction>>
}

export const DECISION_POINT = new Ability<DecisionPoint>()

/** Each body that an endpoint takes, and what it answers. The data is the whole body of the answer. */
const endpoints = {
  'access.evaluate': endpoint(question, (request, body) => request.use(DECISION_POINT).evaluate(body)),
  'access.evaluate_all': endpoint(evaluations, async (request, body) => {
    const { evaluations: items, options: given, ...defaults } = body
    const point = request.use(DECISION_POINT)
    if (isOne(body)) return point.evaluate(defaults as AskedQuestion)
    const asked = items!.map((item, i) => readItem(defaults, item, i))
    return { evaluations: await point.evaluateAll(asked, given?.evaluations_semantic ?? 'execute_all') }
  }),
  'access.search_subject': endpoint(subjectSearch, (request, { page: given, ...asked }) =>
    pageOf('subject', asked, given, (at) => request.use(DECISION_POINT).findSubjects(asked, at)),
  ),
  'access.search_resource': endpoint(resourceSearch, (request, { page: given, ...asked }) =>
    pageOf('resource', asked, given, (at) => request.use(DECISION_POINT).findResources(asked, at)),
  ),
  'access.search_action': endpoint(actionSearch, (request, { page: given, ...asked }) =>
    pageOf('action', asked, given, (at) => request.use(DECISION_POINT).findActions(asked, at)),
  ),
} as const

function endpoint<Body>(body: z.ZodType<Body>, answer: (request: OperationRequest, body: Body) => Promise<unknown>) {
  return { body, run: async (request: OperationRequest<unknown, Body>) => ({ data: await answer(request, request.body) }) }
}

/** The rows of `/v1/access` as the endpoints below `/access/v1`: the same ids, permissions and paths. */
export const decisionPointRows: readonly Operation[] = accessOperations.map((row) => ({
  ...row,
  ...(endpoints as Readonly<Record<string, object>>)[row.id],
  path: row.path.slice('/access'.length),
})) as readonly Operation[]

/** An item of a list of questions, with the defaults in place of the entities that it leaves out (§7.1.1). */
function readItem(defaults: object, item: unknown, index: number): AskedQuestion | ApiError {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return invalidMember(`evaluations.${index}`, 'must be an object')
  const given = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
  const { success, data, error } = question.safeParse({ ...defaults, ...given })
  if (success) return data
  return validationFailed(error.issues.map((issue) => ({ in: 'body', path: issue.path.join('.'), message: describeIssue(issue) })))
}

/**
 * A page of a search. Its tokens belong to what was asked: with another question they are refused (§8.2).
 * @throws {ApiError} `validation_failed`
 */
async function pageOf<Item>(
  kind: string,
  { subject: of, action: name, resource: on }: { readonly subject: object; readonly action?: object; readonly resource: object },
  given: z.output<typeof page>,
  find: (page: SearchPage) => Promise<Found<Item>>,
) {
  const asked = createHash('sha256')
    .update(JSON.stringify([of, name, on]))
    .digest('base64url')
    .slice(0, 16)
  const list = `authzen.${kind} ${asked}`
  const token = given?.token ?? ''
  const after = token === '' ? undefined : decodeCursor(list, token)
  if (token !== '' && after === undefined)
    throw invalidMember('page.token', 'is not a token of this search: use page.next_token of its previous page')
  const { max, default: usual } = limits.pageSize
  // A limit of 0 is what some encoders write for none.
  return toPage(list, await find({ limit: Math.min(given?.limit || usual, max), after }))
}
