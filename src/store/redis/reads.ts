import type { Change, IndexRange, ReadRequest, Snapshot } from '../port.ts'
import type { Connection } from './client.ts'
import type { Decode, ReadReply } from './codec.ts'
import type { Identity } from './identity.ts'
import { FIRST_BYTES, readInSteps } from './long-reads.ts'
import type { Run } from './pool.ts'
import type { Question, ReadCache } from './read-cache.ts'

/** How often a read asks for what it guesses, before it is a script. */
const GUESSES = 3

/**
 * Reads snapshots. Redis takes some 200 µs for a script that reads a page of a hundred records, and 15 for an MGET of them. So a read
 * guesses from the {@link ReadCache} what it will find, and asks plain commands:
 *
 * 1. If all of it was true at the last known revision of the partition, it asks whether the partition still has this revision.
 * 2. Otherwise it asks for the records in one MGET, for entries that are not known, and for the revisions of the indexes. The revision of
 *    the partition comes first and last: if it is the same, all of that was true at one moment.
 * 3. If the pages have other records by then, it asks again.
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

  /** Remembers what a commit has changed. */
  noteCommit(partition: string, { revision, indexes }: Change): void {
    const base = `${this.#prefix}:{${partition}}`
    this.#cache.noteCurrent(base, revision)
    for (const index of indexes.keys()) this.#cache.noteIndex(base, index, revision, undefined)
  }

  async #read(base: string, request: ReadRequest): Promise<Snapshot | null> {
    const known = await this.#ifUnchanged(base, request)
    if (known !== undefined) return known
    for (let guess = 0; guess < GUESSES; guess++) {
      const question = this.#cache.questionFor(base, request)
      if (question === undefined || question.length > FIRST_BYTES) break
      const answer = await this.#ask(base, request, question)
      if (answer !== undefined) return answer
    }
    return this.#readByScript(base, request)
  }

  /** @returns undefined if the partition has changed, or not everything is known */
  async #ifUnchanged(base: string, request: ReadRequest): Promise<Snapshot | null | undefined> {
    const at = this.#cache.currentOf(base)
    // A few records cost no more than the question whether they have changed.
    if (at === undefined || request.ranges.length === 0 || request.counts.length > 0) return undefined
    const answer = this.#cache.answer(base, request, at)
    if (answer === undefined) return undefined
    const revision = await this.#run((client) => client.get(`${base}:n`))
    return this.#cache.noteCurrent(base, revision) === at ? answer : undefined
  }

  async #ask(base: string, request: ReadRequest, question: Question): Promise<Snapshot | null | undefined> {
    const { names, indexes, ranges } = question
    // One after the other, over the same connection.
    const asked = (client: Connection) =>
      Promise.all([
        client.mget([`${base}:n`, ...names]),
        Promise.all(ranges.map((range) => entriesOf(client, base, range))),
        Promise.all(request.counts.map((index) => client.zcard(`${base}:i:${index}`))),
        indexes.size === 0 ? [] : client.hmget(`${base}:v`, ...indexes.keys()),
        indexes.size === 0 ? null : client.get(`${base}:n`),
      ])
    const [[first = null, ...records], pages, counts, revisions, last] = await this.#run(asked)
    const at = this.#cache.noteCurrent(base, first)
    const isOneMoment = first === last
    this.#cache.noteAnswers(base, question, { at, records, pages, revisions, isOneMoment })
    if (counts.length > 0 && !isOneMoment) return undefined
    const answer = this.#cache.answer(base, request, at)
    return answer && { ...answer, counts }
  }

  async #readByScript(base: string, request: ReadRequest): Promise<Snapshot | null> {
    let at = ''
    const send = async (text: string) => {
      const reply = (await this.#run((client) => client.lkRead(`${base}:n`, text))) as ReadReply | null
      if (reply !== null) at = this.#cache.noteCurrent(base, reply[4])
      return reply
    }
    const decode: Decode = (key, text) => this.#cache.noteRecord(`${base}:r:${key}`, text, at)
    const snapshot = await readInSteps(send, request, decode)
    if (snapshot !== null)
      for (const [i, range] of request.ranges.entries()) {
        const { revision, entries, isCut = false } = snapshot.ranges[i]!
        this.#cache.noteIndex(base, range.index, revision, at)
        if (!isCut) this.#cache.notePage(base, range, revision, entries, at)
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
