import { ApiError } from '../model/errors.ts'
import { andThen, orElse, type Awaitable } from '../model/awaitable.ts'
import { StreamShare } from '../governor/stream-share.ts'
import { StorageUnavailable } from '../store/port.ts'
import { retryConflicts } from '../store/transact.ts'
import { Attempt } from './attempt.ts'
import { Call, type CallRequest, type Surface } from './call.ts'
import { CompressibleResponse } from './compression.ts'
import { toApiError } from './error-mapping.ts'
import { LongPoll, waitSignal } from './long-poll.ts'
import type { Answer, Events, Outcome, Wait } from './outcome.ts'
import { TokenPrincipal } from './principal.ts'
import { inTurnOfRefusals } from './refusals.ts'
import { render, renderError } from './render.ts'
import type { Route } from './routes.ts'
import type { Services } from './services.ts'
import { StepList } from './step-list.ts'
import * as steps from './steps.ts'
import type { AttemptRecord } from './decision-record.ts'
import { Trail } from './trail.ts'

// A call is answered in attempts: each follows the steps below, and one that conflicts with a concurrent write starts again at its
// authentication. Nothing here waits if nothing has to: a read on memory is answered in one go.

/** The steps until the operation of a request is known. */
const FIRST = new StepList()
  .add(steps.readAhead)
  .add(steps.authenticate) // 401
  .add(steps.charge) // 429
  .add(steps.findOperation) // 404 405

const INPUT = FIRST.add(steps.checkScope) // 403
  .add(steps.takeInput) // 400 413 415 422

/** The steps of each kind of operation, in the order in which the contract refuses requests. */
const STEPS = {
  list: INPUT.add(steps.checkNamed) // 404
    .add(steps.list).steps,
  read: INPUT.add(steps.decide) // 404 403
    .add(steps.perform) // 404 410
    .add(steps.finish).steps,
  write: INPUT.add(steps.replay) // 404 409 422
    .add(steps.decide) // 404 403
    .add(steps.checkPreconditions) // 412 428
    .add(steps.perform) // 404 409 410; of an upload 400 413 422 507
    .add(steps.remember) // 429
    .add(steps.commit) // 412 503
    .add(steps.finish).steps,
}

function stepsOf({ route }: Attempt): StepList['steps'] {
  if (route instanceof ApiError) return FIRST.steps
  const { kind, isRead } = route.operation
  return kind === 'filtered_list' ? STEPS.list : isRead ? STEPS.read : STEPS.write
}

/**
 * Follows the steps of an attempt until one has the outcome, at the latest the last one.
 * @param at the next step
 */
function follow(attempt: Attempt, steps: StepList['steps'], at = 0): Awaitable<Outcome> {
  for (let i = at; ; i++) {
    const outcome = steps[i]!(attempt)
    if (outcome instanceof Promise) return outcome.then((later) => later ?? follow(attempt, steps, i + 1))
    if (outcome !== undefined) return outcome
  }
}

const MAX_ATTEMPTS = 12

/**
 * Attempts a call until no concurrent write conflicts with it. The commit expects everything that the decision read to be unchanged. If it
 * is not, the call starts again at authentication: checking and acting are one step.
 * @param position where a stream goes on
 */
function attemptAll(services: Services, call: Call, trail: Trail, position?: string): Awaitable<Outcome> {
  const { partition } = call.principal // 401
  let isRetry = false
  return retryConflicts(services.store, partition, MAX_ATTEMPTS, (lease) => {
    const mayRecall = !isRetry && services.store.isRemote
    const attempt = new Attempt(services, call, trail.next(isRetry), { lease, position, mayRecall })
    isRetry = true
    if (!attempt.mayRecall) return follow(attempt, stepsOf(attempt))
    const read = () => new Attempt(services, call, trail.next(false), { lease, position, mayRecall: false })
    return followRecalled(attempt, read)
  })
}

/**
 * Follows the steps of an attempt that may begin with what this process remembers. If it ends before a read or its commit has found that to be
 * true, whatever its outcome is, another attempt reads first. That is no conflict.
 */
async function followRecalled(attempt: Attempt, read: () => Attempt): Promise<Outcome> {
  const { tx, services } = attempt
  try {
    const outcome = await follow(attempt, stepsOf(attempt))
    if (!tx.isUnverified) return outcome
  } catch (error) {
    if (!tx.isUnverified || error instanceof StorageUnavailable) throw error
  } finally {
    if (tx.hasRecalled) services.recalls.note((attempt.route as Route).operation.id, !tx.isUnverified)
  }
  const reading = read()
  return follow(reading, stepsOf(reading))
}

/** Attempts a call until it has an answer, and as long as its client waits for one. */
function answer(services: Services, call: Call, trail: Trail): Awaitable<Answer> {
  return andThen(attemptAll(services, call, trail), (outcome) => {
    if (outcome.kind === 'wait') return wait(services, call, trail, outcome)
    // Stryker disable next-line ConditionalExpression: of other answers, nobody asks for the next one
    return outcome.kind === 'events'
      ? { ...outcome, share: shareOf(services, call, outcome), next: (position) => readOn(services, call, position) }
      : outcome
  })
}

/** Attempts a call again whenever there may be what it waits for, until its time is over. */
async function wait(services: Services, call: Call, trail: Trail, first: Wait): Promise<Answer> {
  const poll = new LongPoll(services.store, call.principal.partition, first.awaited, waitSignal(services, call.request))
  try {
    for (let outcome: Outcome = first; ; outcome = await attemptAll(services, call, trail, first.awaited.position)) {
      if (outcome.kind !== 'wait') return outcome as Answer
      if (poll.isOver) return outcome.otherwise
      call.leaveTurn()
      const { until } = outcome.awaited
      // Stryker disable next-line all: it looks again within a second anyway, so what is there at a time is found a little later at most
      await poll.next(until === undefined ? undefined : until - services.clock())
      // The client of a further attempt may be gone.
      if (poll.isAborted) return outcome.otherwise
    }
  } finally {
    poll.end()
  }
}

/** What a token's stream may use. A person's stream has one share for all boards that it shows. */
function shareOf({ turns, rateLimits }: Services, call: Call, { caller }: Events): StreamShare {
  const charge = (units: number) => (call.surface.name === undefined ? rateLimits?.countStream(caller, units) : undefined)
  return new StreamShare({ turns, turn: call.turn(caller), charge })
}

/** The next read of a stream, which is decided like a request. A stream can last longer than a policy. */
async function readOn(began: Services, call: Call, position: string): Promise<Events> {
  const services = began.current()
  return (await attemptAll(services, call, new Trail(services, call), position)) as Events
}

/** What becomes of an answer, and of a refusal. */
interface Presentation<T> {
  answer(answer: Answer, trail: Trail): Awaitable<T>
  refuse(error: ApiError, trail: Trail): T
}

/**
 * Answers a call. Each one, whatever its surface is, comes this way.
 * @returns what is presented; it never throws
 */
export function conclude<T extends { readonly status: number; readonly body?: ReadableStream | null }>(
  services: Services,
  call: Call,
  present: Presentation<T>,
): Awaitable<T> {
  const trail = new Trail(services, call)
  let refusal: ApiError | undefined
  const presented = orElse(
    () =>
      andThen(trail.ready(), () =>
        andThen(answer(services, call, trail), (answered) => andThen(discardUnused(call, answered), () => present.answer(answered, trail))),
      ),
    (error) =>
      // Only if nothing was committed for certain. Garbage collection finds the rest.
      andThen(error instanceof ApiError ? call.discardUpload() : undefined, () => {
        call.quota.chargeDone(call.cost.units - call.cost.stated)
        refusal = call.quota.fail(toApiError(services.log, call.requestId, error, call.isRepeatable))
        return present.refuse(refusal, trail)
      }),
  )
  return andThen(presented, (shown) => {
    call.end()
    return andThen(trail.write(shown.status, refusal?.code), (unrecorded) => {
      const told = unrecorded === undefined ? shown : andThen(shown.body?.cancel(), () => present.refuse(unrecorded, trail))
      return andThen(told, (response) => {
        call.quota.addLogged(trail.record.logBytes)
        trail.end()
        return response
      })
    })
  })
}

/** Removes the bytes of an upload that no file needs: they were needed to decide, or to compare them. */
function discardUnused(call: Call, { kind }: Answer): Awaitable<void> {
  return kind === 'replayed' || kind === 'dry_run' ? call.discardUpload() : undefined
}

/** Requests with a token. */
export const API: Surface = {
  name: undefined,
  isCounted: true,
  identify: (services, { request }) => new TokenPrincipal(request.headers.get('authorization'), services),
}

/** How requests with a token are found and answered below an address. */
export interface Form {
  readonly surface: Surface
  answer(services: Services, call: Call, answer: Answer, record: AttemptRecord): Awaitable<Response>
  refuse(call: Call, error: ApiError, record: AttemptRecord): Response
}

/** Below /v1: `{"data": …}` and `{"error": …}`. */
const ENVELOPE: Form = { surface: API, answer: render, refuse: renderError }

/**
 * Answers a request with a token.
 * @param form default: below /v1
 * @returns the response; it never throws
 */
export function handle(services: Services, request: CallRequest, form = ENVELOPE): Awaitable<Response> {
  const call = new Call(services, request, form.surface)
  const response = conclude(services, call, {
    answer: (answered, trail) => andThen(form.answer(services, call, answered, trail.record), (made) => chargeRest(call, made)),
    refuse: (error, trail) => form.refuse(call, error, trail.record),
  })
  return andThen(response, (made) => inTurnOfRefusals(services, call, made))
}

/** Charges the cost of the work that was not charged before. */
function chargeRest({ cost, quota }: Call, response: Response): Response {
  if (response instanceof CompressibleResponse) cost.bytes = Buffer.byteLength(response.content)
  // Stryker disable next-line ConditionalExpression: without a rest, nothing is charged, and the headers stay as they are
  if (cost.units === cost.stated) return response
  quota.chargeDone(cost.units - cost.stated)
  for (const [name, value] of Object.entries(quota.headers)) response.headers.set(name, value)
  return response
}
