import type { Decision, Engine, ScopeDecision } from './engine.ts'
import type { Facts } from './evaluate.ts'

/** How many answers are remembered. There are fewer cells, but a client can state several fields in any order. */
const REMEMBERED = 20_000

/** The answers for facts that begin with the same values. */
interface Node<Answer> {
  answer: Answer | undefined
  readonly next: Map<string, Node<Answer>>
}

/** The answers to questions of one kind. Each path from an id over the values of its facts, in their order, has one. */
class Answers<Answer> {
  readonly #namesOf: (id: string) => readonly string[] | undefined
  readonly #limit: number
  readonly #roots = new Map<string, { readonly names: readonly string[]; readonly node: Node<Answer> }>()
  #size = 0

  /** @param namesOf the names of the facts that the answers for an id depend on; undefined: the id is unknown */
  constructor(namesOf: (id: string) => readonly string[] | undefined, limit: number) {
    this.#namesOf = namesOf
    this.#limit = limit
  }

  /**
   * The answer to a question: the remembered one, or a new one. Facts that are missing or unknown, and facts besides those that are
   * needed, are never remembered: the engine itself refuses or keeps them.
   */
  find(id: string, facts: Facts, fields: readonly string[] | undefined, ask: () => Answer): Answer {
    let root = this.#roots.get(id)
    if (root === undefined) {
      const names = this.#namesOf(id)
      if (names === undefined) return ask()
      this.#roots.set(id, (root = { names, node: { answer: undefined, next: new Map() } }))
    }
    const { names } = root
    if (countOf(facts) !== names.length) return ask()
    let node: Node<Answer> | undefined = root.node
    for (const name of names) {
      const value: string | undefined = Object.hasOwn(facts, name) ? facts[name] : undefined
      if (value === undefined) return ask()
      node = node?.next.get(value)
    }
    if (fields !== undefined) for (const field of fields) node = node?.next.get(field)
    if (node?.answer !== undefined) return node.answer
    // What is refused is not reached.
    const answer = ask()
    if (this.#size < this.#limit) this.#add(root.node, [...names.map((name) => facts[name]!), ...(fields ?? [])], answer)
    return answer
  }

  #add(root: Node<Answer>, path: readonly string[], answer: Answer): void {
    let node = root
    for (const value of path) {
      let next = node.next.get(value)
      if (next === undefined) node.next.set(value, (next = { answer: undefined, next: new Map() }))
      node = next
    }
    node.answer = answer
    this.#size++
  }
}

/**
 * An engine that answers like another one, and remembers its answers. An answer depends on the facts alone and an engine never changes, so
 * both are the same; to look an answer up takes a fraction of the time. Remembered decisions are frozen.
 * @param limit how many answers of each kind are remembered
 */
export function remembering(engine: Engine, limit = REMEMBERED): Engine {
  const { vocabulary } = engine
  const factsOf = (groups: readonly string[] | undefined) =>
    groups?.flatMap((group) => vocabulary.groups.get(group)!.map(({ name }) => name))
  const decisions = new Answers<Decision>((id) => factsOf(vocabulary.permissions.get(id)?.groups), limit)
  const scopes = new Answers<ScopeDecision>((id) => (vocabulary.permissions.has(id) ? [vocabulary.scopeOrder.name] : undefined), limit)
  const definitions = new Answers<boolean>((name) => factsOf(vocabulary.definitions.get(name)?.groups), limit)
  return Object.freeze({
    ...engine,
    checkScope: (id: string, facts: Facts) => scopes.find(id, facts, undefined, () => Object.freeze(engine.checkScope(id, facts))),
    decide(id: string, facts: Facts, fields?: readonly string[], without?: string): Decision {
      if (without !== undefined) return engine.decide(id, facts, fields, without)
      return decisions.find(id, facts, fields, () => freeze(engine.decide(id, { ...facts }, fields && [...fields])))
    },
    holds: (name: string, facts: Facts) => definitions.find(name, facts, undefined, () => engine.holds(name, facts)),
  })
}

function freeze(decision: Decision): Decision {
  for (const member of [decision.facts, decision.fields, decision.derived, decision.rules]) Object.freeze(member)
  return Object.freeze(decision)
}

/** The number of facts. An array of their names would take longer to make than an answer to find. */
function countOf(facts: Facts): number {
  let count = 0
  for (const name in facts) if (facts[name] !== undefined) count++
  return count
}
