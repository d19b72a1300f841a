import { expect, test } from 'vitest'
import { indexes } from '../../src/store/indexes.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpRecords } from '../support/memory-records.ts'
import { card } from '../support/records.ts'

const records = setUpRecords()

test('a commit that completes a card makes those ready that it blocked', async () => {
  const [blocker, blocked] = [card({ id: 'c1' }), card({ id: 'c2', blocker_ids: ['c1'] })]
  const stored = () =>
    records.work(async (tx) => {
      const readiness = await tx.read([keys.readiness('c1'), keys.readiness('c2'), keys.readiness('c3')])
      return [readiness.map((one) => one?.open_blocker_ids), (await tx.range(indexes.readyCards('col_1'), { limit: 9 })).entries]
    })
  // Only cards are ready, whatever else is like one.
  await records.add({ [keys.card('c1')]: blocker, [keys.card('c2')]: blocked, 'copy:c3': { ...blocked, id: 'c3' } })
  expect(await stored()).toEqual([[undefined, ['c1'], undefined], ['a0 c1']])
  await records.edit(keys.card('c1'), { completed_at: '2026', outcome: 'succeeded' })
  expect(await stored()).toEqual([[undefined, [], undefined], ['a0 c2']])
})
