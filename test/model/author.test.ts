import { expect, test } from 'vitest'
import { authorName } from '../../src/model/author.ts'

test.each([
  ['Ana', null, 'Ana'],
  ['Ana', 'agent-03', 'agent-03 of Ana'],
  [undefined, null, 'A former member'],
  [undefined, 'agent-03', 'agent-03 of a former member'],
])('%s with the token %s is called "%s"', (person, token, name) => {
  expect(authorName(person, token)).toBe(name)
})
