import { EventEmitter } from 'node:events'
import type { ClientRequest } from 'node:http'
import { expect, test } from 'vitest'
import { boundAnswer, type AnswerBounds } from '../../src/outgoing/bounded-answer.ts'

// What is read, and the answers before the answer, are tested with real connections: test/webhooks/send.test.ts.
test('tickets of TLS sessions are counted: 16 of them are accepted', () => {
  let exceeded = 0
  const [request, socket] = [new EventEmitter(), new EventEmitter()]
  boundAnswer({ bytes: 1, pieces: 1 }, () => exceeded++).observe(request as ClientRequest)
  request.emit('socket', socket)
  const counts: number[] = []
  for (let ticket = 1; ticket <= 18; ticket++) {
    socket.emit('session')
    counts.push(exceeded)
  }
  expect(counts).toEqual([...Array<number>(16).fill(0), 1, 2])
})

test.each<[what: string, bounds: AnswerBounds, length: number, accepted: number]>([
  ['pieces, however short they are', { bytes: 1_000_000, pieces: 10 }, 1, 10],
  ['bytes, in however few pieces they come', { bytes: 10_000, pieces: 1000 }, 4000, 2],
])('%s are counted, and nothing beyond the limit is passed on', (_what, bounds, length, accepted) => {
  let exceeded = 0
  const taken: Uint8Array[] = []
  const socket = { push: (piece: Uint8Array) => taken.push(piece) > 0 }
  const { onread } = boundAnswer(bounds, () => exceeded++).options as { onread: { buffer: Buffer; callback: Function } }
  for (let i = 0; i < accepted; i++) expect(onread.callback.call(socket, length, onread.buffer)).toBe(true)
  expect({ taken: taken.length, exceeded }).toEqual({ taken: accepted, exceeded: 0 })
  expect(onread.callback.call(socket, length, onread.buffer)).toBe(false)
  expect({ taken: taken.length, exceeded }).toEqual({ taken: accepted, exceeded: 1 })
  // The buffer is used again for the next piece.
  expect(taken[0]!.buffer).not.toBe(onread.buffer.buffer)
})
