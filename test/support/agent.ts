import { expect } from 'vitest'
import type { Person, Service } from './service.ts'

/** An agent with the token of a person, which takes cards and ends its claims. */
export interface Agent {
  /** Claims a card for five minutes. @returns the epoch */
  claim(cardId: string): Promise<number>
  /** Fails, after a claim. @param retryAfter seconds */
  fail(cardId: string, reason: string, retryAfter: number): Promise<void>
  /** Asks a question. @param claims whether the card is claimed before @returns the id of the comment */
  ask(cardId: string, question: string, claims?: boolean): Promise<string>
}

export function startAgent(service: Service, { admin }: Person): Agent {
  const epochs = new Map<string, number>()
  const send = async (method: string, path: string, body: unknown, epoch?: number): Promise<any> => {
    const reply = await service.send(admin, method, path, body, epoch === undefined ? {} : { 'if-claim': String(epoch) })
    expect({ method, path, isDone: reply.status < 300, text: reply.text }).toEqual({ method, path, isDone: true, text: reply.text })
    return reply.body.data
  }
  const claim = async (cardId: string) => {
    const { epoch } = await send('PUT', `/cards/${cardId}/claim`, { ttl: 300 })
    epochs.set(cardId, epoch)
    return epoch
  }
  return {
    claim,
    async fail(cardId, reason, retry_after) {
      await send('POST', `/cards/${cardId}/claim/failure`, { reason, retry_after }, await claim(cardId))
    },
    async ask(cardId, question, claims = true) {
      const epoch = claims ? await claim(cardId) : epochs.get(cardId)
      return (await send('POST', `/cards/${cardId}/claim/question`, { question }, epoch)).id
    },
  }
}
