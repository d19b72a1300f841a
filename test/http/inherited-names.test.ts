import { expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'

const inherited = [...Object.getOwnPropertyNames(Object.prototype), 'prototype']
const setup = setUpBoard(memory)

test.each(inherited)('the member %s is refused wherever a request could have it, as any unknown one', async (name) => {
  const { board, cardId, ann } = setup
  const member = { [name]: 'x' }
  const item = (changes: object) => ({
    operations: [{ operation: 'cards.update', params: { card_id: cardId }, body: { title: 'x' }, ...changes }],
  })
  const question = (properties: object, members: object = {}) => ({
    subject: { type: 'user', id: 'me' },
    action: { name: 'cards.assign', properties: members },
    resource: { type: 'card', id: cardId, properties: { user_id: ann.id, ...properties } },
  })
  const batch = `/boards/${board.id}/batch`
  for (const [path, body, refused] of [
    ['/boards', { name: 'x', ...member }, name],
    [batch, item({ params: { card_id: cardId, ...member } }), `operations.0.params.${name}`],
    [batch, item({ body: { title: 'x', ...member } }), `operations.0.body.${name}`],
    [batch, item(member), `operations.0.${name}`],
    ['/access/evaluation', question(member), `resource.properties.${name}`],
    ['/access/evaluations', { evaluations: [question(member)] }, `evaluations.0.resource.properties.${name}`],
  ] as const) {
    const reply = await board.send('POST', path, body)
    expect([path, reply.status, reply.body.error?.issues?.map((issue: { path: string }) => issue.path)]).toEqual([path, 422, [refused]])
  }
  const changed = await board.send('POST', '/access/evaluation', question({}, member))
  expect(changed.status === 422 || changed.body.data.decision === false).toBe(true)
  for (const value of ['cards.assign', 'card'])
    expect(
      (await board.send('POST', '/access/evaluation', JSON.parse(JSON.stringify(question({})).replace(`"${value}"`, JSON.stringify(name)))))
        .status,
    ).toBe(422)
  expect((await board.send('POST', batch, item({ operation: name }))).status).toBe(422)
})
