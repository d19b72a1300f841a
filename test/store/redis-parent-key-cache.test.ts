import { describe, expect, test } from 'vitest'
import { confirmGuess, ParentKeyCache } from '../../src/store/redis/store.ts'

const record = (key: string | null, value?: Record<string, unknown>) => ({
  key,
  stored: value === undefined ? null : { value, revision: 'r1' },
})
const COMMENT = ['comment:1', 'card:{0.card_id}', 'board:{1.board_id}']
const records = [record('comment:1', { card_id: '2' }), record('card:2', { board_id: '3' }), record('board:3', { name: 'B' })]

describe('the keys of templates', () => {
  test('are guessed from what was read before', () => {
    const cache = new ParentKeyCache()
    expect(cache.guess('w1', COMMENT)).toBeUndefined()
    cache.learn('w1', COMMENT, records)
    expect(cache.guess('w1', COMMENT)).toEqual(['comment:1', 'card:2', 'board:3'])
  })

  test('are guessed for other requests about the same records too', () => {
    const cache = new ParentKeyCache()
    cache.learn('w1', COMMENT, records)
    expect(cache.guess('w1', ['card:2', 'note:{0.board_id}'])).toEqual(['card:2', 'note:3'])
    expect(cache.guess('w1', ['card:2', 'column:{0.column_id}'])).toBeUndefined()
    cache.learn('w1', ['card:2', 'column:{0.column_id}'], [record('card:2', { board_id: '3', column_id: '4' }), record('column:4')])
    expect(cache.guess('w1', ['card:2', 'board:{0.board_id}:{0.column_id}'])).toEqual(['card:2', 'board:3:4'])
  })

  test('are those that were read last', () => {
    const cache = new ParentKeyCache()
    cache.learn('w1', COMMENT, records)
    cache.learn('w1', COMMENT, [records[0]!, record('card:2', { board_id: '9' }), record('board:9', {})])
    expect(cache.guess('w1', COMMENT)).toEqual(['comment:1', 'card:2', 'board:9'])
  })

  test('are not guessed in another partition', () => {
    const cache = new ParentKeyCache()
    cache.learn('w1', COMMENT, records)
    expect(cache.guess('w2', COMMENT)).toBeUndefined()
  })

  test.each([
    ['a record that is absent', [record('comment:1'), record(null), record(null)]],
    ['a member that is no text', [record('comment:1', { card_id: null }), record(null), record(null)]],
    ['a member that is missing', [record('comment:1', {}), record(null), record(null)]],
  ])('are not learned from %s', (_what, read) => {
    const cache = new ParentKeyCache()
    cache.learn('w1', COMMENT, read)
    expect(cache.guess('w1', COMMENT)).toBeUndefined()
    expect(cache.guess('w1', ['comment:1', '{0.card_id}'])).toBeUndefined()
  })

  test('without placeholders are the references themselves', () =>
    expect(new ParentKeyCache().guess('w1', ['a:1', 'b:2'])).toEqual(['a:1', 'b:2']))
})

describe('guessed keys', () => {
  test('are confirmed by the records', () => expect(confirmGuess(COMMENT, records)).toEqual(records))

  test('are wrong when a record names another one by now', () => {
    expect(confirmGuess(COMMENT, [record('comment:1', { card_id: '9' }), records[1]!, records[2]!])).toBeUndefined()
    expect(confirmGuess(COMMENT, [records[0]!, record('card:2', { board_id: '9' }), records[2]!])).toBeUndefined()
  })

  test('have no record, and no key, when the record before them has gone or names none', () => {
    const gone = [record('comment:1'), record(null), record(null)]
    expect(confirmGuess(COMMENT, [record('comment:1'), records[1]!, records[2]!])).toEqual(gone)
    const unnamed = [record('comment:1', { card_id: null }), record(null), record(null)]
    expect(confirmGuess(COMMENT, [unnamed[0]!, records[1]!, records[2]!])).toEqual(unnamed)
  })
})
