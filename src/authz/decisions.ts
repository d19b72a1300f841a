import type { Decision, Engine, ScopeDecision } from '../policy/engine.ts'
import type { Facts } from '../policy/evaluate.ts'
import type { TokenRecord } from '../model/token.ts'
import type { AuthorizationContext, Caller, TokenCaller } from './context.ts'
import { readersOf, type NamedReader } from './facts.ts'

/** What the scope table decided, and about what. */
export interface ScopeRecord extends ScopeDecision {
  readonly permission: string
  readonly facts: Facts
}

/** A definition that denies access to a target, and its facts. */
export interface Hidden {
  readonly definition: string
  readonly facts: Facts
}

/** Whether a definition holds, and the facts of that. */
interface Held {
  readonly holds: boolean
  readonly facts: Facts
}

/**
 * The answers to one question about facts, remembered by the values of the facts. Each fact has few values, so there are at most as many
 * answers as the proof has points for the question.
 */
class Answers<Answer> {
  readonly #readers: readonly NamedReader[]
  readonly #ask: (facts: Facts) => Answer
  readonly #first: Node<Answer> = { answer: undefined, next: new Map() }

  constructor(readers: readonly NamedReader[], ask: (facts: Facts) => Answer) {
    this.#readers = readers
    this.#ask = ask
  }

  /** The answer for the facts of these records. It is frozen, because all who ask the same share it. */
  find(caller: Caller, context: AuthorizationContext): Answer {
    let node = this.#first
    for (const { read } of this.#readers) {
      const value = read(caller, context)
      let next = node.next.get(value)
      if (next === undefined) node.next.set(value, (next = { answer: undefined, next: new Map() }))
      node = next
    }
    return (node.answer ??= Object.freeze(this.#ask(this.factsOf(caller, context))))
  }

  factsOf(caller: Caller, context: AuthorizationContext): Facts {
    return Object.freeze(Object.fromEntries(this.#readers.map(({ name, read }) => [name, read(caller, context)])))
  }
}

interface Node<Answer> {
  answer: Answer | undefined
  readonly next: Map<string, Node<Answer>>
}

/** What one permission is decided by. */
interface Prepared {
  readonly decision: Answers<Decision>
  /** the definitions that must hold, or its target is hidden */
  readonly hidesAll: readonly Hiding[]
  /** those that are known before anything else than the target is read */
  readonly hidesTarget: readonly Hiding[]
}

interface Hiding {
  readonly definition: string
  readonly held: Answers<Held>
}

/** The groups of facts that are known of each target, before anything else is read. */
const TARGET_GROUPS = new Set(['caller', 'board'])

/** What both tables decide about the records of requests. Equal facts have equal decisions: each is made once. */
export class Decisions {
  static readonly #all = new WeakMap<Engine, Decisions>()
  readonly #engine: Engine
  readonly #scopes = new Map<string, Answers<ScopeRecord>>()
  readonly #permissions = new Map<string, Prepared>()
  readonly #definitions = new Map<string, Answers<Held>>()

  private constructor(engine: Engine) {
    this.#engine = engine
  }

  /** The decisions of a policy. */
  static of(engine: Engine): Decisions {
    return remembered(Decisions.#all, engine, () => new Decisions(engine))
  }

  /** What the scope table decides about a token. */
  scope(permission: string, token: Pick<TokenRecord, 'scopes'>): ScopeRecord {
    const { vocabulary } = this.#engine
    const ofPermission = remembered(this.#scopes, permission, () => {
      const readers = readersOf(vocabulary, [vocabulary.scopeOrder.group])
      return new Answers(readers, (facts) => ({ ...this.#engine.checkScope(permission, facts), permission, facts }))
    })
    return ofPermission.find({ token } as TokenCaller, NO_CONTEXT)
  }

  /**
   * What the permission table decides.
   * @param fields see {@link Engine.decide}
   */
  decide(permission: string, caller: Caller, context: AuthorizationContext, fields?: readonly string[]): Decision {
    const { decision } = this.#permission(permission)
    // A client can state any fields in any order.
    return fields === undefined
      ? decision.find(caller, context)
      : this.#engine.decide(permission, decision.factsOf(caller, context), fields)
  }

  /** Whether a definition of the vocabulary holds. */
  holds(definition: string, caller: Caller, context: AuthorizationContext): boolean {
    return this.#definition(definition).find(caller, context).holds
  }

  /**
   * The definition that hides a target from the caller, with its facts; undefined if it is not hidden.
   * @param isWhole whether the context has everything that decides about access; otherwise it has the board of the target
   */
  hiding(permission: string, caller: Caller, context: AuthorizationContext, isWhole: boolean): Hidden | undefined {
    const { hidesAll, hidesTarget } = this.#permission(permission)
    for (const { definition, held } of isWhole ? hidesAll : hidesTarget) {
      const { holds, facts } = held.find(caller, context)
      if (!holds) return { definition, facts }
    }
    return undefined
  }

  #permission(id: string): Prepared {
    const engine = this.#engine
    const { permissions, definitions } = engine.vocabulary
    return remembered(this.#permissions, id, () => {
      const { groups, notFoundUnless } = permissions.get(id)!
      const hidesAll = notFoundUnless.map((definition) => ({ definition, held: this.#definition(definition) }))
      return {
        decision: new Answers(readersOf(engine.vocabulary, groups), (facts) => engine.decide(id, facts)),
        hidesAll,
        hidesTarget: hidesAll.filter(({ definition }) => definitions.get(definition)!.groups.every((group) => TARGET_GROUPS.has(group))),
      }
    })
  }

  #definition(name: string): Answers<Held> {
    const engine = this.#engine
    const { vocabulary } = engine
    return remembered(this.#definitions, name, () => {
      const readers = readersOf(vocabulary, vocabulary.definitions.get(name)!.groups)
      return new Answers(readers, (facts) => ({ holds: engine.holds(name, facts), facts }))
    })
  }
}

const NO_CONTEXT: AuthorizationContext = {}

/** The value of a key, which is made when it is first asked for. */
function remembered<Key, Value>(
  known: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
}
