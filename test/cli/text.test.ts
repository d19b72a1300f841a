import { describe, expect, test } from 'vitest'
import { describe as format } from '../../src/cli/text.ts'

describe('the result of a command, for reading', () => {
  test.each<[what: string, result: unknown, text: string]>([
    ['no items', [], 'none'],
    [
      'a list is a table',
      [
        { id: 'usr_1', name: 'Ann' },
        { id: 'usr_22', name: 'Ben' },
      ],
      'id      name\nusr_1   Ann\nusr_22  Ben',
    ],
    ['an object has a line for each member', { user_id: 'usr_1', email: null, passkeys: 2 }, 'user_id   usr_1\nemail     –\npasskeys  2'],
    ['members of a member stand in its line', { identity: { issuer: 'https://a', subject: 'b' } }, 'identity  https://a b'],
    ['so do the items of a list', { scopes: ['a', 'b'] }, 'scopes  a b'],
    ['characters that control the terminal are escaped', { name: 'a\u001b[2J' }, 'name  a\\u{1b}[2J'],
  ])('%s', (_what, result, text) => {
    expect(format(result)).toBe(text)
  })
})
