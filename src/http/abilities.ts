import { DECISION_POINT } from '../resources/access/authzen.ts'
import { ACCESS } from '../resources/access/search-schema.ts'
import { PERFORM } from '../resources/batch/schema.ts'
import type { Ability } from '../resources/operation.ts'
import { WEBHOOKS, type WebhookAbilities } from '../resources/webhooks/abilities.ts'
import { findActions, findResources, findSubjects } from './access-questions.ts'
import { DecisionPointOfAttempt } from './authzen.ts'
import { performAll } from './batch.ts'
import { evaluate } from './evaluation.ts'
import type { Services, UsingAttempt } from './services.ts'

/** What gives the abilities that rows of the operations table use. A row that uses one gets it here, and no base type knows it. */
export function createAbilities(webhooks: WebhookAbilities): Services['abilities'] {
  return new Map<Ability<unknown>, (attempt: UsingAttempt) => unknown>([
    given(ACCESS, (attempt) => ({
      evaluate: (questions, semantic) => evaluate(attempt, questions, semantic),
      findActions: (asked, page) => findActions(attempt, asked, page),
      findResources: (asked, page) => findResources(attempt, asked, page),
      findSubjects: (asked, page) => findSubjects(attempt, asked, page),
    })),
    given(DECISION_POINT, (attempt) => new DecisionPointOfAttempt(attempt)),
    given(PERFORM, (attempt) => (boardId, items) => performAll(attempt, boardId, items)),
    given(WEBHOOKS, () => webhooks),
  ])
}

function given<Given>(ability: Ability<Given>, give: (attempt: UsingAttempt) => Given) {
  return [ability, give] as const
}
