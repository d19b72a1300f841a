import { endMembership } from '../../../src/admin/memberships.ts'
import type { Person, Reply } from '../../support/service.ts'
import { attachmentRequests } from './attachment-requests.ts'
import { boardRequests } from './board-requests.ts'
import { cardRequests } from './card-requests.ts'
import { select, type Fixture, type PlannedRequest, type Step } from './selection.ts'

const requests = { ...boardRequests, ...cardRequests, ...attachmentRequests }
const LEAVE = 'leave workspace'

/** All kinds of steps. */
export const stepKinds: readonly string[] = [...Object.keys(requests), LEAVE]

/** A request and the person who sends it. */
export type PreparedRequest = PlannedRequest & { readonly person: Person }

/** Prepares a step from the present state of the model. @returns undefined when there is nothing to do */
export function prepare(fixture: Fixture, step: Step): PreparedRequest | 'leave' | undefined {
  // Rarely, because nothing else can be done by a person who has left.
  if (step.kind === LEAVE) return step.c % 7 === 0 ? 'leave' : undefined
  const selection = select(fixture, step)
  const planned = requests[step.kind]!(fixture, selection, step)
  return planned && { ...planned, person: selection.person }
}

export function send({ service }: Fixture, { person, method, path, body, form }: PreparedRequest): Promise<Reply> {
  return form === undefined ? service.send(person.admin, method, path, body) : service.upload(person.admin, path, form)
}

/** Ends the workspace membership of the last person. */
export async function leave({ service, people, model }: Fixture): Promise<void> {
  const person = people.at(-1)!
  await endMembership(service.deps, person.workspaceId, person.id)
  model.leave(person.id)
}
