import type { Awaitable } from '../model/awaitable.ts'
import type { After, Attempt, Found } from './attempt.ts'
import type { Outcome } from './outcome.ts'

/**
 * A step of an attempt, which needs what `Has` says.
 * @returns the outcome, if it is the last step; or what it has found
 */
type Step<Has extends Attempt, Result> = (attempt: Has) => Awaitable<Result>

/** What an attempt has in addition after a step with this result. */
type Gained<Result> = [FoundIn<Result>] extends [never] ? unknown : FoundIn<Result> extends Found<infer Name> ? After<Name> : unknown
type FoundIn<Result> = Extract<Awaited<Result>, Found<any>>

/** Steps in their order. A step that needs what no step before it has found is a type error. */
export class StepList<Has extends Attempt = Attempt> {
  readonly steps: readonly Step<any, Outcome | void>[]

  constructor(steps: StepList['steps'] = []) {
    this.steps = steps
  }

  add<Result>(step: Step<Has, Result>): StepList<Has & Gained<Result>> {
    return new StepList([...this.steps, step as Step<any, Outcome | void>])
  }
}
