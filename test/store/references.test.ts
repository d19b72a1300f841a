import { describe, expect, expectTypeOf, test } from 'vitest'
import { keys, type Key } from '../../src/store/keys.ts'
import { memberOf, partOf, toTemplates, type Read } from '../../src/store/reads.ts'
import { Reference } from '../../src/store/references.ts'
import type { Card } from '../../src/model/card.ts'

const card = keys.card('1')
const board = keys.board(memberOf(card, 'board_id'))
const column = keys.column(memberOf(card, 'column_id'))

describe('a reference', () => {
  test.each<[what: string, reads: Read[], last: unknown]>([
    ['a member of the record before it', [card, board], ['board:', { index: 0, member: 'board_id' }]],
    [
      'members of two records',
      [keys.token('9'), card, keys.boardMember(memberOf(card, 'board_id'), memberOf(keys.token('9'), 'user_id'))],
      ['board_member:', { index: 1, member: 'board_id' }, ':', { index: 0, member: 'user_id' }],
    ],
    [
      'a member and an id',
      [card, keys.boardMember(memberOf(card, 'board_id'), '3')],
      ['board_member:', { index: 0, member: 'board_id' }, ':', '3'],
    ],
    ['an id and a member', [card, keys.boardMember('3', memberOf(card, 'id'))], ['board_member:', '3', ':', { index: 0, member: 'id' }]],
    ['a member of a part', [partOf(card, 'board_id'), keys.board('8'), board], ['board:', { index: 0, member: 'board_id' }]],
    [
      'a member of a record that a reference leads to',
      [card, board, column, keys.user(memberOf(board, 'creator_id'))],
      ['user:', { index: 1, member: 'creator_id' }],
    ],
    [
      'a member of a part that a reference leads to',
      [card, partOf(board, 'creator_id'), keys.user(memberOf(partOf(board, 'creator_id'), 'creator_id'))],
      ['user:', { index: 1, member: 'creator_id' }],
    ],
    ['the last of two equal keys', [card, keys.card('2'), card, column, board], ['board:', { index: 2, member: 'board_id' }]],
  ])('is made from %s', (_what, reads, last) => {
    expect(toTemplates(reads).at(-1)).toEqual(last)
  })

  test.each<[what: string, reads: Read[]]>([
    ['is not read', [board]],
    ['is read after it', [board, card]],
    ['is another one', [keys.card('2'), board]],
    ['is read by another reference', [card, keys.board(memberOf(card, 'board_id')), keys.user(memberOf(board, 'creator_id'))]],
  ])('is refused if the record that it is made from %s', (_what, reads) => {
    expect(() => toTemplates(reads)).toThrow(new TypeError('store: a reference must come after the record that it is made from'))
  })

  // What a client sends is a text, or an object of JSON. Neither can be a member of a record.
  test.each<[what: string, id: unknown]>([
    ['a placeholder of earlier versions', '{0.user_id}'],
    ['a placeholder', { index: 0, member: 'board_id' }],
    ['the JSON of a placeholder', '{"index":0,"member":"board_id"}'],
    ['a member, as JSON', { source: 'card:1', name: 'board_id' }],
    ['the prototype of a member, as JSON', JSON.parse('{"__proto__":{"toPlaceholder":null}}')],
    ['a list', ['board:', { index: 0, member: 'board_id' }]],
  ])('is not made from what a client sends: %s', (_what, id) => {
    for (const key of [keys.board(id as string), keys.boardMember(id as string, '3'), keys.boardMember('3', id as string)]) {
      expect(key).toBeTypeOf('string')
      expect(toTemplates([card, key])).toEqual([card, key])
    }
  })

  test('has the type of its record, and is made from members that are texts', () => {
    expectTypeOf(card).toEqualTypeOf<Key<Card>>()
    expect(board).toBeInstanceOf(Reference)
    // @ts-expect-error A card has no such member.
    memberOf(card, 'user_id')
    // @ts-expect-error It is a list.
    memberOf(card, 'label_ids')
    // @ts-expect-error The read does not rely on it.
    memberOf(partOf(card, 'id'), 'board_id')
    // @ts-expect-error The type of the record of a text is not known.
    memberOf('card:1', 'board_id')
    // @ts-expect-error A placeholder is not a member.
    keys.board({ index: 0, member: 'board_id' })
    // @ts-expect-error Only a key is written.
    const written: Key<unknown> = board
    expect(written).toBe(board)
  })
})
