import { afterEach, describe, expect, test } from 'vitest'
import { restoreTexts, separateTexts } from '../../src/http/response-texts.ts'
import { defaultRates, limits } from '../../src/model/limits.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { storedFor } from '../support/stored-responses.ts'

/** 200 KB */
const FAT = '🌵'.repeat(limits.cardDescription)

describe('one token, at the default limits', () => {
  let service: Service
  afterEach(() => service.stop())

  test('with 1,413 requests of 20 bytes to a card of 200 KB, a new key each, makes the service store 3 MB at most', async () => {
    service = await Service.start(memory, { rateLimits: { quotas: defaultRates } })
    const workspaceId = await service.workspace()
    const board = await TestBoard.create(service, await service.person(workspaceId))
    const card = await board.card(await board.column(), 'Card', { description: FAT })
    const statuses = new Map<number, number>()
    for (let i = 0; i < 1413; i++) {
      const body = { completed: i % 2 === 0 }
      const { status } = await board.send('PUT', `/cards/${card}/completion`, body, { 'idempotency-key': `key-${i}` })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      // A second window.
      if (status === 429) service.now += 60_000
    }
    const { responses, bytes } = await storedFor(service, workspaceId)
    expect([...statuses.keys()]).toEqual([200, 429])
    expect(responses).toBe(statuses.get(200))
    expect(bytes).toBeLessThan(3_000_000)
  })
})

describe('the long texts of a response', () => {
  const long = 'x'.repeat(1001)
  const data = { id: '1', body: long, list: [{ body: long }, null, 'short'], count: 1 }

  test('are taken out and put back', () => {
    const separated = separateTexts(data)
    expect(separated.data).toEqual({ id: '1', body: '', list: [{ body: '' }, null, 'short'], count: 1 })
    expect([...separated.texts.values()]).toEqual([long])
    expect(restoreTexts(separated.data, separated.places, [long, long])).toEqual(data)
    expect(separateTexts(long)).toMatchObject({ data: '', places: [{ path: [] }] })
  })

  test.each([
    ['a text is missing', ['body'], undefined],
    ['the place is missing', ['other'], long],
    ['the place has another text', ['id'], long],
    ['the place is within a text', ['id', 0], long],
    ['the place is inherited', ['__proto__', 'body'], long],
    ['the place is that of nothing', [], long],
  ])('are not put back if %s', (_title, path, text) => {
    const stored = { id: '1', body: '' }
    expect(() => restoreTexts(stored, [{ path, sha256: 'x' }], [text])).toThrow('a stored response lacks the text')
    expect(stored).toEqual({ id: '1', body: '' })
  })
})
