import type { IndexRange, ReadRequest, Snapshot, Template } from '../port.ts'
import type { Connection } from './client.ts'
import type { Decode, ReadReply } from './codec.ts'
import type { Identity } from './identity.ts'
import { lastRevisionOf, type CommitRevisions } from './last-commits.ts'
import { FIRST_BYTES, readInSteps } from './long-reads.ts'
import type { Run } from './pool.ts'
import type { Question } from './question.ts'
import type { ReadCache, SentCommit } from './read-cache.ts'
import type { View } from './views.ts'

/** How often a read asks for what it guesses, before it is a script. */
const GUESSES = 8

/**
 * Reads snapshots. Redis takes some 200 µs for a script that reads a page of a hundred records, and 15 for an MGET of them. So a read
 * guesses from the {@link ReadCache} what it will find, and asks plain commands:
 *
 * 1. One MGET has the last commits of the partition, and the records that are not known.
 * 2. If entries or revisions of indexes are not known, they follow, and the last commits once more: if they are the same, all of that was
 *    true at one moment.
 * 3. If the commits have changed something that was known, it asks again.
 *
 * What cannot be guessed, or is long, is read by scripts.
 */
export class Reads {
  readonly #run: Run
  readonly #prefix: string
  readonly #identity: Identity | undefined
  readonly #cache: ReadCache

  constructor(run: Run, prefix: string, cache: ReadCache, identity: Identity | undefined) {
    this.#run = run
    this.#prefix = prefix
    this.#cache = cache
    this.#identity = identity
  }

  /** See `Store.read`. */
  async read(partition: string, request: ReadRequest): Promise<Snapshot | null> {
    const { records, expect } = request
    // An expectation is not met by a Redis that was emptied since the first read of a transaction.
    const isFirst = records.length > 0 && expect.records.size + expect.indexes.size === 0
    const snapshot = await this.#read(`${this.#prefix}:{${partition}}`, request)
    if (isFirst && snapshot?.records.every(({ stored }) => stored === null)) await this.#identity?.check(this.#run, partition)
    return snapshot
  }

  /** See `Store.recall`. */
  recall(partition: string, records: readonly Template[]): Snapshot['records'] | undefined {
    return this.#cache.recall(`${this.#prefix}:{${partition}}`, records)
  }

  /** Makes a commit, and remembers what it writes. @returns its outcome */
  async whileSending(
    partition: string,
    sent: SentCommit,
    send: () => Promise<CommitRevisions | 'conflict'>,
  ): Promise<CommitRevisions | 'conflict'> {
    let outcome: CommitRevisions | 'conflict' = 'conflict'
    this.#cache.noteSent(sent)
    try {
      return (outcome = await send())
    } finally {
      this.#cache.noteOutcome(`${this.#prefix}:{${partition}}`, sent, outcome === 'conflict' ? undefined : outcome)
    }
  }

  async #read(base: string, request: ReadRequest): Promise<Snapshot | null> {
    for (let guess = 0; guess < GUESSES; guess++) {
      const question = this.#cache.questionFor(base, request)
      if (question === undefined || question.length > FIRST_BYTES) break
      const answer = await this.#ask(base, request, question)
      if (answer !== undefined) return answer
    }
    return this.#readByScript(base, request)
  }

  /** @returns undefined if not everything is known */
  async #ask(base: string, request: ReadRequest, question: Question): Promise<Snapshot | null | undefined> {
    const { names, indexes, ranges } = question
    const isOneCommand = indexes.size + ranges.length + request.counts.length === 0
    // One after the other, over the same connection.
    const asked = (client: Connection) =>
      Promise.all([
        client.mget([`${base}:n`, ...names]),
        Promise.all(ranges.map((range) => entriesOf(client, base, range))),
        Promise.all(request.counts.map((index) => client.zcard(`${base}:i:${index}`))),
        indexes.size === 0 ? [] : client.hmget(`${base}:v`, ...indexes.keys()),
        isOneCommand ? null : client.get(`${base}:n`),
      ])
    const [[first = null, ...records], pages, counts, revisions, after] = await this.#run(asked, base)
    const last = isOneCommand ? first : after
    const view = this.#cache.noteAnswers(base, question, { first, records, pages, revisions, last })
    // What was counted is true at this revision only.
    if (counts.length > 0 && (first !== last || view.revision !== lastRevisionOf(last))) return undefined
    const answer = this.#cache.answer(base, request, view)
    return answer && { ...answer, counts }
  }

  async #readByScript(base: string, request: ReadRequest): Promise<Snapshot | null> {
    let view: View | undefined
    let at: string | undefined
    const send = async (text: string) => {
      const after = this.#cache.revisionOf(base)
      const reply = (await this.#run((client) => client.lkRead(`${base}:n`, text), base)) as ReadReply | null
      if (reply !== null) {
        view = this.#cache.noteCommits(base, reply[4], after)
        at = lastRevisionOf(reply[4])
      }
      return reply
    }
    // Another read may have seen a later revision since.
    const current = () => (view?.revision === at ? view : undefined)
    const decode: Decode = (key, text) => this.#cache.noteRecord(`${base}:r:${key}`, text, current())
    const snapshot = await readInSteps(send, request, decode)
    if (snapshot !== null)
      for (const [i, range] of request.ranges.entries()) {
        const { revision, entries, isCut = false } = snapshot.ranges[i]!
        this.#cache.noteIndex(base, range.index, revision, current())
        if (!isCut) this.#cache.notePage(base, range, entries)
      }
    return snapshot
  }
}

function entriesOf(client: Connection, base: string, { index, after, before, reverse = false, limit }: IndexRange): Promise<string[]> {
  const name = `${base}:i:${index}`
  const low = after === undefined ? '-' : `(${after}`
  const high = before === undefined ? '+' : `(${before}`
  return reverse ? client.zrevrangebylex(name, high, low, 'LIMIT', 0, limit) : client.zrangebylex(name, low, high, 'LIMIT', 0, limit)
}
