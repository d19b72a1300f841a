import { describe, expect, test } from 'vitest'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

describe.each(drivers)('the name of a token, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('tells the agents of one person apart wherever their work is', async () => {
    const { service, workspaceId, bob, cardId, board } = setup
    const issue = (name: string) => {
      const request = { userId: bob.id, name, scopes: ['kanban:write'] as const }
      return service.write(workspaceId, (tx) => issueToken(tx, request, service.deps))
    }
    const [first, second] = [await issue('agent-01'), await issue('agent-02')]
    const by = ({ token, plaintext }: typeof first) => ({
      named: { token_id: token.id, token_name: token.name },
      send: async (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
        (await service.send(plaintext, method, path, body, headers)).body,
    })
    const [one, two] = [by(first), by(second)]

    const claim = (await one.send('PUT', `/cards/${cardId}/claim`)).data
    expect((await two.send('GET', `/cards/${cardId}/claim`)).data).toEqual(claim)
    const comment = (await two.send('POST', `/cards/${cardId}/comments`, { body: 'Plain' })).data
    const question = (await one.send('POST', `/cards/${cardId}/claim/question`, { question: 'Go on?' }, { 'if-claim': `${claim.epoch}` }))
      .data
    expect({ claim, comment, question }).toMatchObject({ claim: one.named, comment: two.named, question: one.named })
    expect((await two.send('GET', `/comments/${comment.id}`)).data).toMatchObject(two.named)
    expect(comment).not.toHaveProperty('edited_by')
    expect((await one.send('PATCH', `/comments/${comment.id}`, { body: 'Plain' })).data).toEqual(comment)
    const edited = (await one.send('PATCH', `/comments/${comment.id}`, { body: 'Edited' })).data
    expect(edited).toMatchObject({ ...two.named, edited_by: 'token' })
    const changes = (await two.send('GET', `/boards/${board.id}/changes`)).data as { action: string; id: string }[]
    expect(changes.find(({ action }) => action === 'claimed')).toMatchObject(one.named)
    expect(changes.find(({ id }) => id === comment.id)).toMatchObject({ ...two.named, data: { ...two.named, edited_by: 'token' } })
  })
})
