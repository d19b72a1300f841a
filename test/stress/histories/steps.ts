import { collectGarbage } from '../../../src/admin/garbage-collection.ts'
import { endMembership } from '../../../src/admin/memberships.ts'
import { HOUR } from '../../../src/model/time.ts'
import type { Person, Reply } from '../../support/service.ts'
import { attachmentRequests } from './attachment-requests.ts'
import { batchRequests } from './batch-requests.ts'
import { boardRequests } from './board-requests.ts'
import { cardRequests } from './card-requests.ts'
import { select, type Fixture, type PlannedRequest, type Step } from './selection.ts'

const requests = { ...boardRequests, ...cardRequests, ...attachmentRequests, ...batchRequests }
const LEAVE = 'leave workspace'
const COLLECT = 'collect garbage'

/** All kinds of steps. */
export const stepKinds: readonly string[] = [...Object.keys(requests), LEAVE, COLLECT]

/** A request and the person who sends it. */
export type PreparedRequest = PlannedRequest & { readonly person: Person }

/**
 * The time that passes before a step, in milliseconds. Hours pass before a garbage collection, so that files expire. No
 * request is in progress while time passes.
 */
export function timeBefore({ kind, c }: Step): number {
  return kind === COLLECT ? (c % 10) * HOUR : 1
}

/** A step that is not a request. It has no reply. The model has no garbage, so a garbage collection changes nothing. */
export type Action = (fixture: Fixture) => Promise<void>

/** Prepares a step from the present state of the model. @returns undefined when there is nothing to do */
export function prepare(fixture: Fixture, step: Step): PreparedRequest | Action | undefined {
  if (step.kind === COLLECT) return collect
  // Rarely, because nothing else can be done by a person who has left.
  if (step.kind === LEAVE) return step.c % 7 === 0 ? leave : undefined
  const selection = select(fixture, step)
  const planned = requests[step.kind]!(selection, step, fixture)
  return planned && { ...planned, person: selection.person }
}

export function send({ service }: Fixture, { person, method, path, body, form }: PreparedRequest): Promise<Reply> {
  return form === undefined ? service.send(person.admin, method, path, body) : service.upload(person.admin, path, form)
}

/** Ends the workspace membership of the last person. */
async function leave({ service, people, model }: Fixture): Promise<void> {
  const person = people.at(-1)!
  await endMembership(service.deps, person.workspaceId, person.id)
  model.leave(person.id)
}

async function collect({ service, people }: Fixture): Promise<void> {
  await collectGarbage(service.adminDeps, people[0]!.workspaceId)
}
