import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../../src/model/time.ts'
import { effort } from '../../support/effort.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { startRedis } from '../../support/redis.ts'
import { newFolder } from '../../support/run.ts'
import { insistOn } from '../claims/fleet.ts'
import { ENDING, fill, Fleet, markedAt, type Reader } from './fleet.ts'
import { hasWord, violationsOf } from './oracle.ts'

/**
 * In each wave but the last one, a process is killed while people write, and one while it sends mails. In the last one, a process that sends
 * mails is stopped.
 */
const [WRITERS, WAVES] = [6, 3]
/** The writes of a wave. */
const WRITES = effort(42)
/** Each reader is told twice in a wave, so that they get fewer than ten mails. */
const READERS = WRITES / 2
/** How long something is waited for, in milliseconds. */
const POLL = { timeout: 300_000, interval: 200 }

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

test('mails with a seeded bug of each kind are found', () => {
  const [ann, bob] = ['ann', 'bob'].map((id) => ({ id, plaintext: '', email: `${id}@example.org` })) as [Reader, Reader]
  const mail = (to: Reader, source: string) => ({ from: '0@example.org', to: [to.email], source })
  const [early, killed, late] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:01:00.000Z', '2026-11-20T12:02:00.000Z']
  const told = (word: string, at: string | undefined) => ({ word, reader: ann, markedAt: at })
  const good = [mail(ann, 'w0=\r\nn1x w0n2x')]
  const words = [told('w0n1x', early), told('w0n2x', late), told('w0n3x', early)]
  expect(violationsOf(good, words, killed)).toEqual([])
  expect(violationsOf([...good, mail(ann, 'w0n2x')], words, killed)).toEqual(['w0n2x is in 2 mails'])
  expect(violationsOf([...good, mail(bob, 'w0n3x')], words, killed)).toEqual(['w0n3x was sent to bob@example.org'])
  expect(violationsOf(good, [...words, told('w0n4x', undefined)], killed)).toEqual(['w0n4x was never mailed'])
  expect(violationsOf(good, [...words, told('w0n4x', late)], killed)).toEqual(['w0n4x was marked and has not arrived'])
})

test.each([
  { name: 'one process on a folder', count: 1, open: async () => `fs:${join(newFolder(), 'storage')}` },
  {
    name: 'two processes on Redis',
    count: 2,
    open: async () => {
      const redis = await startRedis()
      ends.push(() => redis.stop())
      return redis.url
    },
  },
])('each write has its notice once, and one mail, of $name that are killed and started again', async ({ count, open }) => {
  const address = await open()
  const { workspaceId, ann, bob, readers } = await fill(address, READERS)
  let ending: 'SIGKILL' | 'SIGTERM' | undefined
  let restarted = Promise.resolve()
  const server = await startMailServer(({ from }) => {
    const sender = ending && fleet.senderOf(from)
    if (ending === undefined || sender === undefined) return '250 ok'
    const signal = ending
    ending = undefined
    restarted = fleet.restart(sender, signal)
    // Whoever is killed has sent the mail, and gets no answer.
    return signal === 'SIGKILL' ? undefined : '250 ok'
  })
  ends.push(() => server.close())
  const fleet = await Fleet.start(address, count, server.url)
  ends.push(() => fleet.stop())

  const insist = insistOn(fleet.urls, ann)
  const create = async (path: string, body: object) => (await insist('POST', path, body)).body.data.id as string
  const board = await create('/boards', { name: 'Board' })
  const column_id = await create(`/boards/${board}/columns`, { name: 'Column' })
  const due_at = new Date(Date.now() + DAY / 2).toISOString()
  const cards = await Promise.all(
    Array.from({ length: WRITERS }, (_one, i) =>
      create(`/boards/${board}/cards`, { column_id, title: 'Card', ...(i % 2 === 0 ? { due_at, assignee_ids: [bob.id] } : {}) }),
    ),
  )

  /** What each write says → whom it tells, and whether it was acknowledged. */
  const writes = new Map<string, { readonly reader: Reader; isAcknowledged: boolean }>()
  /** Sends a write once: it may be done without an answer. */
  const once = async (path: string, body: object): Promise<boolean> => {
    const headers = { authorization: `Bearer ${ann.plaintext}`, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${fleet.urls[randomInt(count)]}/v1${path}`, sent).catch(() => undefined)
    const text = await response?.text().catch(() => undefined)
    return response?.status === 201 && text !== undefined
  }

  // Mentions on a board that nearly all readers lose before mails about them are due.
  const secret = await create('/boards', { name: 'Secret' })
  const secretColumn = await create(`/boards/${secret}/columns`, { name: 'Column' })
  const secretCard = await create(`/boards/${secret}/cards`, { column_id: secretColumn, title: 'Card' })
  const secretWord = (i: number) => `secret${i}x`
  const [trusted, ...others] = readers as [Reader, ...Reader[]]
  await Promise.all(readers.map(({ id }, i) => create(`/cards/${secretCard}/comments`, { body: `${secretWord(i)} @${id}` })))
  const heard = (await insistOn(fleet.urls, others.at(-1)!)('GET', '/notices')).body.data
  expect(heard.map(({ text }: { text: string }) => text)).toEqual([expect.stringContaining(secretWord(READERS - 1))])
  writes.set(secretWord(0), { reader: trusted, isAcknowledged: true })
  expect((await insist('PUT', `/boards/${secret}/members/${trusted.id}`)).status).toBeLessThan(300)
  expect((await insist('PUT', `/boards/${secret}/visibility`, { visibility: 'private' })).status).toBe(200)

  let told = 0
  const write = async (wave: number, isKilled: boolean) => {
    const atOnce = writes.size + WRITES / 2
    const writer = async (card: string, writerNumber: number) => {
      for (let i = 0; i < WRITES / WRITERS; i++) {
        const word = `w${wave}n${writerNumber}i${i}x`
        const reader = readers[told++ % READERS]!
        const [path, body] =
          i % 2 === 0
            ? [`/cards/${card}/comments`, { body: `${word} @${reader.id}` }]
            : [`/boards/${board}/cards`, { column_id, title: word, assignee_ids: [reader.id] }]
        const one = { reader, isAcknowledged: false }
        writes.set(word, one)
        one.isAcknowledged = await once(path, body)
        // All writers go on together, so that most writes come while the service runs.
        await restarted
        if (!isKilled || writes.size <= atOnce) continue
        isKilled = false
        restarted = fleet.restart(wave % count, 'SIGKILL')
      }
    }
    await Promise.all(cards.map(writer))
    await restarted
  }
  for (let wave = 0; wave < WAVES; wave++) {
    const isLast = wave === WAVES - 1
    await write(wave, !isLast)
    ending = isLast ? 'SIGTERM' : 'SIGKILL'
    await fleet.advance(3 * MINUTE)
    await expect.poll(() => ending, POLL).toBeUndefined()
    await restarted
  }

  const listed = async (reader: Reader) => {
    const found: any[] = []
    for (let after = ''; ;) {
      const { body } = await insistOn(fleet.urls, reader)('GET', `/notices?limit=100${after}`)
      if (body.data.length === 0) return found
      found.push(...body.data)
      after = `&after=${body.page.next_cursor}`
    }
  }
  const ofKind = async (kind: string) => (await listed(bob)).filter((one) => one.kind === kind)
  // Each process looks when it starts, and soon after something was done.
  await expect.poll(async () => (await ofKind('token_ending')).length, POLL).toBeGreaterThanOrEqual(ENDING)
  await expect.poll(async () => (await ofKind('due')).length, POLL).toBeGreaterThanOrEqual(WRITERS / 2)

  const notices = new Map<string, readonly any[]>()
  for (const reader of readers) notices.set(reader.id, await listed(reader))
  const violations: string[] = []
  const words: { readonly word: string; readonly reader: Reader; readonly id: string }[] = []
  for (const [word, { reader, isAcknowledged }] of writes) {
    const having = notices.get(reader.id)!.filter(({ text }) => text.includes(word))
    if (having.length > 1 || (isAcknowledged && having.length === 0))
      violations.push(`${word} was ${isAcknowledged ? '' : 'not '}acknowledged, and told ${having.length} times`)
    words.push(...having.map(({ id }) => ({ word, reader, id })))
  }
  expect(violations).toEqual([])
  expect([...writes.values()].filter(({ isAcknowledged }) => isAcknowledged).length).toBeGreaterThan(writes.size / 4)
  const names = (await ofKind('token_ending')).map(({ token_name }) => token_name as string)
  expect(names.toSorted()).toEqual(Array.from({ length: ENDING }, (_one, i) => `t${i}`).toSorted())
  const due = (await ofKind('due')).map(({ card_id }) => card_id as string)
  expect(due.toSorted()).toEqual(cards.filter((_card, i) => i % 2 === 0).toSorted())

  // Nobody was killed in the last wave, and its mails are due last.
  const last = words.filter(({ word }) => word.startsWith(`w${WAVES - 1}`))
  const mailsWith = (word: string) => server.mails.filter((mail) => hasWord(mail, word)).length
  // A notice in two mails is a violation, which is told below.
  const isTwice = () => words.some(({ word }) => mailsWith(word) > 1)
  await expect.poll(() => (isTwice() ? [] : last.filter(({ word }) => mailsWith(word) === 0)), POLL).toEqual([])
  await server.got()
  await fleet.stop()
  const marks = await markedAt(
    address,
    workspaceId,
    words.map(({ reader, id }) => [reader.id, id] as const),
  )
  const lost = words.filter(({ word }) => mailsWith(word) === 0).length
  console.log(
    `${writes.size} writes, ${words.length} of them told, ${fleet.kills} kills, ${server.mails.length} mails, ${lost} notices lost their mail`,
  )
  const secrets = readers.map((_reader, i) => secretWord(i)).slice(1)
  expect(server.mails.filter((mail) => secrets.some((word) => hasWord(mail, word)))).toEqual([])
  expect(
    violationsOf(
      server.mails,
      words.map((one, i) => ({ ...one, markedAt: marks[i] })),
      fleet.lastKill,
    ),
  ).toEqual([])
  expect(fleet.kills).toBe(2 * (WAVES - 1))
})
