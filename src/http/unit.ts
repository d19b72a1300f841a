import { Decisions } from '../authz/decisions.ts'
import type { Caller } from '../authz/context.ts'
import { limits } from '../model/limits.ts'
import type { RandomSource } from '../model/ids.ts'
import { isDryRun, type Ability, type OperationRequest } from '../resources/operation.ts'
import type { Services } from './services.ts'

/** What an operation is called with, and what a question about one is decided with. */
type Given = Pick<OperationRequest, 'tx' | 'params' | 'query' | 'body'> &
  Partial<Pick<OperationRequest, 'clock' | 'random' | 'receive'>> & { readonly caller: Caller }
/** What only a request can do. */
export type Abilities = Pick<OperationRequest, 'use' | 'examine' | 'once'>

type UnitServices = Pick<Services, 'engine' | 'clock' | 'random' | 'batch'>

/**
 * The unit that an operation is called with. Requests, the operations of a batch, evaluations and the questions of operators all have
 * theirs from here: the last three change the input alone. Its functions are made for those who ask for them: most operations do not.
 */
export class Unit implements OperationRequest {
  readonly tx: OperationRequest['tx']
  readonly caller: Caller
  readonly params: OperationRequest['params']
  readonly query: unknown
  readonly body: unknown
  readonly clock: OperationRequest['clock']
  readonly random: RandomSource
  readonly receive: OperationRequest['receive']
  readonly #services: UnitServices
  readonly #abilities: Abilities

  /** @param abilities default: it only decides */
  constructor(services: UnitServices, given: Given, abilities: Abilities = DECIDES) {
    this.tx = given.tx
    this.caller = given.caller
    this.params = given.params
    this.query = given.query
    this.body = given.body
    this.clock = given.clock ?? services.clock
    this.random = given.random ?? (isDryRun(given) ? createZeros() : services.random)
    this.receive = given.receive
    this.#services = services
    this.#abilities = abilities
  }

  /** The same unit for another operation. */
  with(changes: Partial<Given>): Unit {
    const { tx, caller, params, query, body, clock, random, receive } = this
    return new Unit(this.#services, { tx, caller, params, query, body, clock, random, receive, ...changes }, this.#abilities)
  }

  get batch(): number {
    return this.#services.batch ?? limits.batch
  }

  get holds(): OperationRequest['holds'] {
    const decisions = Decisions.of(this.#services.engine)
    return (name, context) => decisions.holds(name, this.caller, context)
  }

  use<Given>(ability: Ability<Given>): Given {
    return this.#abilities.use(ability)
  }

  get once(): OperationRequest['once'] {
    return (work) => this.#abilities.once(work)
  }

  get examine(): OperationRequest['examine'] {
    return (characters) => this.#abilities.examine(characters)
  }
}

function refuse(): never {
  throw new TypeError('a unit that only decides performs nothing')
}

const DECIDES: Abilities = { use: refuse, examine: refuse, once: refuse }

/** The random source of a dry run: no id that it gives can be taken for a real one. The first one has zeros only, and all differ. */
function createZeros(): RandomSource {
  let count = 0
  return (size) => {
    const bytes = new Uint8Array(size)
    // Each byte gives 5 bits.
    for (let rest = count++, i = size - 1; rest > 0 && i >= 0; rest >>>= 5, i--) bytes[i] = rest & 31
    return bytes
  }
}
