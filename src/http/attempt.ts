import type { AuthorizationContext, Caller } from '../authz/context.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { ApiError } from '../model/errors.ts'
import type { Ability, Operation, OperationRequest } from '../resources/operation.ts'
import type { OperationResult } from '../resources/result.ts'
import type { Turn } from '../governor/turns.ts'
import type { CommitLease } from '../store/commit-leases.ts'
import { Transaction, TransactionConflict } from '../store/transaction.ts'
import type { Call } from './call.ts'
import type { AttemptRecord } from './decision-record.ts'
import type { Input } from './input.ts'
import type { Done } from './outcome.ts'
import { accessesFurther } from './recalls.ts'
import type { Route } from './routes.ts'
import type { Services, UsingAttempt } from './services.ts'
import type { Abilities, Unit } from './unit.ts'

/** An operation that is decided once. */
export type SingleOperation = Operation & { readonly kind: 'single' }

/** A list whose items are decided one by one. */
export type ListOperation = Operation & { readonly kind: 'filtered_list' }

/** What the steps of an attempt find, each for those after it. */
export interface Findings {
  readonly caller: Caller
  readonly operation: Operation
  readonly params: OperationRequest['params']
  readonly input: Input
  readonly unit: Unit
  /** the target and all else that was loaded and decided on */
  readonly loaded: AuthorizationContext
  readonly result: OperationResult
  /** what is answered, if nothing fails after it */
  readonly done: Done
  /** whether it changes something other than the stored response */
  readonly changes: boolean
}

/** An attempt whose steps have found these. */
export type After<Name extends keyof Findings> = Attempt & Pick<Findings, Name>

declare const FOUND: unique symbol
/** What a step returns that has found these: undefined, of a type that only {@link Attempt.found} makes. */
export type Found<Name extends keyof Findings> = void & { readonly [FOUND]: (name: Name) => void }

interface AttemptOptions {
  readonly lease: CommitLease | undefined
  readonly position: string | undefined
  readonly mayRecall: boolean
}

/** One attempt at a call. */
export class Attempt implements Abilities {
  readonly services: Services
  readonly call: Call
  readonly tx: Transaction
  readonly record: AttemptRecord
  /** of a list or a single operation; an error if there is no operation: the token is checked before it is answered */
  readonly route: Route | ApiError
  readonly #lease: CommitLease | undefined
  /** whether it may begin with what the process remembers (see `Transaction.recall`) */
  readonly mayRecall: boolean
  /** where a stream goes on */
  readonly position: string | undefined
  readonly caller: Caller | undefined
  readonly operation: Operation | undefined
  readonly params: OperationRequest['params'] | undefined
  readonly input: Input | undefined
  readonly unit: Unit | undefined
  readonly loaded: AuthorizationContext | undefined
  readonly result: OperationResult | undefined
  readonly done: Done | undefined
  readonly changes: boolean | undefined

  constructor(services: Services, call: Call, record: AttemptRecord, { lease, position, mayRecall }: AttemptOptions) {
    this.services = services
    this.call = call
    this.record = record
    this.#lease = lease
    this.position = position
    this.tx = new Transaction(services.store, call.principal.partition, services.random, lease?.id, () => this.turn.take())
    this.route = (call.surface.route ?? services.route)(call.method, call.path)
    this.mayRecall = mayRecall && accessesFurther(this.route)
  }

  /** Makes findings known to the steps after this one, which returns what this returns. */
  found<Some extends Partial<Findings>>(findings: Some): Found<keyof Some & keyof Findings> {
    return void Object.assign(this, findings) as never
  }

  use<Given>(ability: Ability<Given>): Given {
    this.requireVerified()
    return this.services.abilities.get(ability)?.(this as After<'unit'>) as Given
  }

  examine(characters: number): Promise<void> | undefined {
    this.call.cost.examined += characters
    return this.turn.spent()
  }

  /**
   * Before something that has an effect outside of the transaction, or that reads outside of it.
   * @throws {TransactionConflict} if it relies on what may not be true any more
   */
  requireVerified(): void {
    if (this.tx.isUnverified) throw new TransactionConflict()
  }

  once<T>(work: () => Promise<T>): Promise<T> {
    this.requireVerified()
    this.endLease()
    return this.call.once(work)
  }

  get turn(): Turn {
    return this.call.turn(this.#payer, this.#lease)
  }

  /** whose turns and units its work takes */
  get #payer(): Caller {
    if (this.caller === undefined) throw new TypeError('nobody is authenticated yet')
    return this.caller
  }

  chargeStated(stated: Parameters<UsingAttempt['chargeStated']>[0]): Awaitable<void> {
    // Each request costs one unit, which is charged.
    return this.call.quota.chargeFurther(this.#payer, Object.assign(this.call.cost, stated).stated - 1)
  }

  /** Others must not wait for its client, or for a request to an outside service. */
  endLease(): void {
    this.#lease?.end()
  }
}
