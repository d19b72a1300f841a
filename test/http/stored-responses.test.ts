import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { durations } from '../../src/model/durations.ts'
import { limits } from '../../src/model/limits.ts'
import { HOUR } from '../../src/model/time.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Reply } from '../support/service.ts'
import { storedFor } from '../support/stored-responses.ts'

// What is stored for an Idempotency-Key is small, and its repetition still gets exactly the first response.

/** 200 KB */
const FAT = '🌵'.repeat(limits.cardDescription)

const comparable = ({ status, headers, text }: Reply) => ({ status, text, etag: headers.get('etag'), location: headers.get('location') })

describe.each(drivers)('the first responses to writes with an Idempotency-Key, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('share their long texts for an hour, and are repeated exactly, whatever has become of the card', async () => {
    const { service, workspaceId, board, cardId } = setup
    await board.patch(`/cards/${cardId}`, { description: FAT })
    const requests = [
      ...Array.from({ length: 5 }, (_, i) => ['PUT', `/cards/${cardId}/completion`, { completed: i % 2 === 0 }] as const),
      ['PATCH', `/cards/${cardId}`, { description: `${FAT.slice(2)}x`, title: 'Other' }],
      ['POST', `/cards/${cardId}/comments`, { body: 'y'.repeat(limits.commentBody) }],
      [
        'POST',
        `/boards/${board.id}/batch`,
        {
          operations: [
            { operation: 'cards.update', params: { card_id: cardId }, body: { description: FAT } },
            { operation: 'cards.complete', params: { card_id: cardId }, body: { completed: false } },
            { operation: 'cards.complete', params: { card_id: cardId }, body: { completed: true } },
          ],
        },
      ],
    ] as const
    const sendAll = async () => {
      const replies: Reply[] = []
      for (const [i, [method, path, body]] of requests.entries())
        replies.push(await board.send(method, path, body, { 'idempotency-key': `key-${i}` }))
      return replies
    }
    const first = await sendAll()
    expect(first.map(({ status }) => status < 300)).toEqual(first.map(() => true))
    const { responses, bytes } = await storedFor(service, workspaceId)
    expect(responses).toBe(requests.length)
    // Three different texts.
    expect(bytes).toBeLessThan(2 * FAT.length * 2 + limits.commentBody + requests.length * 4096)
    await board.patch(`/cards/${cardId}`, { description: 'short' })
    expect((await sendAll()).map(comparable)).toEqual(first.map(comparable))
    await board.delete(`/cards/${cardId}`)
    service.now += HOUR
    await collectGarbage(service.adminDeps, workspaceId)
    expect((await sendAll()).map(comparable)).toEqual(first.map(comparable))
  })

  test('and their long texts are removed after their time', async () => {
    const { service, workspaceId, board, cardId } = setup
    const send = () => board.send('PATCH', `/cards/${cardId}`, { description: FAT }, { 'idempotency-key': 'x' })
    await send()
    service.now += durations.firstResponse
    await collectGarbage(service.adminDeps, workspaceId)
    expect((await send()).headers.get('idempotent-replayed')).toBe('true')
    service.now += HOUR
    await collectGarbage(service.adminDeps, workspaceId)
    expect(await storedFor(service, workspaceId)).toEqual({ responses: 0, bytes: 2 })
  })
})
