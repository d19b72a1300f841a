import type { EncodedBody } from '../decision-log/line.ts'
import { isAnyId } from '../model/ids.ts'
import type { Decision } from '../policy/engine.ts'
import type { DecisionRecord, ItemRecord, ScopeRecord } from './decision-record.ts'

/** How many parts of questions are remembered. */
const REMEMBERED = 20_000

/** What is remembered of a question to a table: its text if it is complete, and what can follow. A map of whole questions would need their text. */
interface Known {
  text: string | undefined
  /** it as a member of a line, in UTF-8 */
  member: Uint8Array | undefined
  readonly next: Map<string, Known>
}

const unknown = (): Known => ({ text: undefined, member: undefined, next: new Map() })

const utf8 = new TextEncoder()

/** What kind of record a request has. */
type Kind = 'decision' | 'list' | 'absence' | 'repetition' | 'refusal'

/** What a record, or a part of one, has of both stages. */
type Stages = { readonly [Part in 'scope' | 'decision' | 'further' | 'hidden']?: DecisionRecord[Part] | undefined }

/**
 * Writes records as JSON. Decisions are finite in number, so their texts are remembered: to write them anew would take longer than to
 * decide.
 */
export class RecordWriter {
  #policy = ''
  #decisions: Known = unknown()
  #scopes: Known = unknown()
  #written = new WeakMap<Decision, Known>()
  #callers: Known = unknown()
  #outcomes: Known = unknown()
  #size = 0
  #second = -1
  #prefix = ''

  /**
   * The members of a line.
   * @param time in milliseconds since 1970
   * @param effect whether a commit follows
   */
  write(record: DecisionRecord, time: number, status: number, effect: 'commit' | 'none'): EncodedBody {
    const { requestId, method, policy } = record
    this.#begin(policy)
    const kind = kindOf(record)
    const head = `"time":"${this.#time(time)}","kind":"${kind}","request_id":"${requestId}","method":${method === 'GET' ? '"GET"' : quoted(method)}`
    const stage = kind === 'refusal' ? `,"stage":"${record.stage ?? 'log'}"` : ''
    const flags = record.dryRun === true ? ',"dry_run":true' : record.surface === undefined ? '' : `,"surface":"${record.surface}"`
    const members = `${head},${what(record)},${this.#who(record)},${this.#outcome(record, status, effect)}${stage}${flags}`
    return { text: members, encoded: this.#encoded(record) }
  }

  /** What both stages decided, and the parts of a request with several decisions. */
  #encoded(record: DecisionRecord): Uint8Array[] {
    const { scope, hidden, decision, further } = record
    const encoded: Uint8Array[] = []
    if (scope !== undefined) {
      const known = this.#scope(scope)
      encoded.push((known.member ??= utf8.encode(`,"scope":${known.text}`)))
    }
    if (decision !== undefined) {
      const known = this.#decision(decision)
      encoded.push((known.member ??= utf8.encode(`,"permission":${known.text}`)))
    }
    const rest = this.#stages({ hidden, further }) + this.#parts(record)
    if (rest !== '') encoded.push(utf8.encode(rest))
    return encoded
  }

  /** Whom the request is made on behalf of. */
  #who({ tokenId, userId, workspaceId }: DecisionRecord): string {
    const write = () => `"token_id":${text(tokenId)},"user_id":${text(userId)},"workspace_id":${text(workspaceId)}`
    return tokenId === undefined ? write() : (this.#child(this.#callers, tokenId).text ??= write())
  }

  #outcome({ code, attempts, policy }: DecisionRecord, status: number, effect: 'commit' | 'none'): string {
    const shown = effect === 'commit' ? undefined : code
    const write = () => `"status":${status},"code":${text(shown)},"effect":"${effect}","attempts":${attempts},"policy":"${policy}"`
    if (attempts !== 1 || shown !== undefined) return write()
    return (this.#child(this.#outcomes, `${status}${effect}`).text ??= write())
  }

  #stages({ scope, hidden, decision, further }: Stages): string {
    let stages = ''
    if (scope !== undefined) stages += `,"scope":${this.#scope(scope).text}`
    if (hidden !== undefined) stages += `,"hidden":${JSON.stringify(hidden)}`
    if (decision !== undefined) stages += `,"permission":${this.#decision(decision).text}`
    if (further !== undefined) stages += `,"further":${this.#counted(further)}`
    return stages
  }

  #parts({ vectors, listed, evaluations, batch }: DecisionRecord): string {
    if (vectors !== undefined && listed !== undefined) {
      const items = [...vectors.values()].map(({ decision, count }) => `{"count":${count},"permission":${this.#decision(decision).text}}`)
      return `,"list":{"permission":${quoted(listed.permission)},"decisions":[${items.join()}]}`
    }
    if (evaluations !== undefined) return `,"evaluations":${this.#items(evaluations)}`
    return batch === undefined ? '' : `,"batch":${this.#items(batch)}`
  }

  #items(items: readonly ItemRecord[]): string {
    return `[${items.map((item) => `{${what(item)},"code":${text(item.code)}${this.#stages(item)}}`).join()}]`
  }

  /** Decisions in their order; the same one several times in a row is written once. */
  #counted(decisions: readonly Decision[]): string {
    const groups: { readonly text: string; count: number }[] = []
    for (const decision of decisions) {
      const own = this.#decision(decision).text!
      const last = groups.at(-1)
      if (last?.text === own) last.count++
      else groups.push({ text: own, count: 1 })
    }
    return `[${groups.map((group) => `{"count":${group.count},"permission":${group.text}}`).join()}]`
  }

  #scope({ permission, facts, required, row, allowed }: ScopeRecord): Known {
    let node = this.#child(this.#scopes, permission)
    for (const name in facts) node = this.#child(node, facts[name]!)
    node = this.#child(node, required)
    node.text ??= JSON.stringify({ permission, facts, required, row, allowed })
    return node
  }

  /** The service remembers its decisions: most have been written before. */
  #decision(decision: Decision): Known {
    let known = this.#written.get(decision)
    if (known === undefined) this.#written.set(decision, (known = this.#find(decision)))
    return known
  }

  #find({ permission, fields, facts, derived, outcome, row, rules }: Decision): Known {
    let node = this.#child(this.#decisions, permission)
    for (const name in facts) node = this.#child(node, facts[name]!)
    if (fields !== undefined) node = this.#child(node, fields.join())
    node.text ??= JSON.stringify({ permission, fields: fields ?? null, facts, derived, outcome, row, rules })
    return node
  }

  #child({ next }: Known, value: string): Known {
    let child = next.get(value)
    if (child === undefined) {
      next.set(value, (child = unknown()))
      this.#size++
    }
    return child
  }

  /** Forgets the texts of another policy, and too many. */
  #begin(policy: string): void {
    if (policy === this.#policy && this.#size < REMEMBERED) return
    this.#policy = policy
    this.#size = 0
    this.#decisions = unknown()
    this.#scopes = unknown()
    this.#written = new WeakMap()
    this.#callers = unknown()
    this.#outcomes = unknown()
  }

  /** RFC 3339. Only the milliseconds are written anew for each record of a second. */
  #time(time: number): string {
    const second = Math.floor(time / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#prefix = new Date(second * 1000).toISOString().slice(0, -4)
    }
    return `${this.#prefix}${String(time - second * 1000).padStart(3, '0')}Z`
  }
}

/** A text that is the same for the same question to the permission table. */
export function vectorOf(permission: string, facts: Decision['facts'], fields?: readonly string[]): string {
  let key = permission
  for (const name in facts) key += `|${facts[name]}`
  return fields === undefined ? key : `${key}||${fields.join()}`
}

/** Records the ids in a path. What is no id is content of a user, and is left out. */
export function recordResources(record: Pick<DecisionRecord, 'resource' | 'related'>, params: Readonly<Record<string, string>>): void {
  let position = 0
  for (const name in params) {
    const id = params[name]!
    if (isAnyId(id)) record[position === 0 ? 'resource' : 'related'] = id
    position++
  }
}

/** An absence is a 404 about which no table was asked: there is nothing to ask about. */
function kindOf({ listed, hidden, absent, decision, replayed, stage, code }: DecisionRecord): Kind {
  if (listed !== undefined) return 'list'
  if (absent === true) return 'absence'
  if (hidden !== undefined || decision !== undefined) return 'decision'
  return replayed === true ? 'repetition' : stage === 'target' && code === 'not_found' ? 'absence' : 'refusal'
}

function what({ operation, resource, related }: Pick<DecisionRecord, 'operation' | 'resource' | 'related'>): string {
  return `"operation":${text(operation)},"resource_id":${text(resource)},"related_id":${text(related)}`
}

/** A text of the service itself, which needs no escape. */
function text(value: string | undefined): string {
  return value === undefined ? 'null' : `"${value}"`
}

const quoted = (value: string): string => JSON.stringify(value)
