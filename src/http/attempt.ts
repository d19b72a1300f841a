import type { AuthorizationContext, Caller } from '../authz/context.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { ApiError } from '../model/errors.ts'
import { isDryRun, type Ability, type Operation, type OperationRequest } from '../resources/operation.ts'
import type { OperationResult } from '../resources/result.ts'
import type { Turn } from '../governor/turns.ts'
import type { CommitLease } from '../store/commit-leases.ts'
import type { Key } from '../store/keys.ts'
import { Transaction } from '../store/transaction.ts'
import type { Call } from './call.ts'
import type { AttemptRecord } from './decision-record.ts'
import type { IdempotentWrite } from './idempotency.ts'
import type { Input } from './input.ts'
import type { Done } from './outcome.ts'
import type { Route } from './routes.ts'
import type { Services, UsingAttempt } from './services.ts'
import { Unit, type Abilities } from './unit.ts'

/** An operation that is decided once. */
export type SingleOperation = Operation & { readonly kind: 'single' }

/** A list whose items are decided one by one. */
export type ListOperation = Operation & { readonly kind: 'filtered_list' }

/** One attempt at a call: what its steps have found so far, each for those after it. */
export class Attempt implements Abilities, UsingAttempt {
  readonly services: Services
  readonly call: Call
  readonly tx: Transaction
  readonly record: AttemptRecord
  /** of a list or a single operation; an error if there is no operation: the token is checked before it is answered */
  readonly route: Route | ApiError
  readonly #lease: CommitLease | undefined
  /** where a stream goes on */
  readonly #position: string | undefined
  caller!: Caller
  operation!: Operation
  params!: OperationRequest['params']
  input!: Input
  unit!: Unit
  /** the target and all else that was loaded and decided on */
  loaded: AuthorizationContext | undefined
  result: OperationResult | undefined
  /** whether it changes something other than the stored response */
  changes!: boolean
  /** what is answered, if nothing fails after it */
  done: Done | undefined

  constructor(services: Services, call: Call, record: AttemptRecord, lease: CommitLease | undefined, position: string | undefined) {
    this.services = services
    this.call = call
    this.record = record
    this.#lease = lease
    this.#position = position
    this.tx = new Transaction(services.store, call.principal.partition, services.random, lease?.id, () => this.turn.take())
    this.route = services.route(call.method, call.path)
  }

  /** Takes the input. From now on there is what the operation is called with. */
  begin(input: Input, receive: OperationRequest['receive']): void {
    const { tx, caller, params } = this
    const { body } = input
    const query = this.#position === undefined ? input.query : Object.assign({}, input.query, { after: this.#position })
    this.input = input
    this.unit = new Unit(this.services, { tx, caller, params, query, body, receive }, this)
  }

  /** The Idempotency-Key that counts. */
  get key(): IdempotentWrite | undefined {
    return isDryRun(this.unit) ? undefined : this.call.key
  }

  /** The record whose revision is the ETag of the target. */
  get entity(): Key<unknown> | undefined {
    return this.operation.entity?.(this.params)
  }

  use<Given>(ability: Ability<Given>): Given {
    return this.services.abilities.get(ability)?.(this) as Given
  }

  examine(characters: number): Promise<void> | undefined {
    this.call.cost.examined += characters
    return this.turn.spent()
  }

  once<T>(work: () => Promise<T>): Promise<T> {
    this.endLease()
    return this.call.once(work)
  }

  /** Waits for a turn before the first read of a stream: it finds many changes at once. Its further reads have their turns. */
  takeTurnOfStream(): Promise<void> | undefined {
    return this.operation.isStream && this.#position === undefined ? this.turn.take() : undefined
  }

  get turn(): Turn {
    return this.call.turn(this.caller, this.#lease)
  }

  chargeStated(stated: Parameters<UsingAttempt['chargeStated']>[0]): Awaitable<void> {
    // Each request costs one unit, which is charged.
    return this.call.quota.chargeFurther(this.caller, Object.assign(this.call.cost, stated).stated - 1)
  }

  /** Others must not wait for its client, or for a request to an outside service. */
  endLease(): void {
    this.#lease?.end()
  }
}
