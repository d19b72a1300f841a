import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'

describe.each(drivers)('subtasks, on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('a subtask can be created as completed', async () => {
    const { board, cardId } = setup
    const created = await board.post(`/cards/${cardId}/subtasks`, { title: 'Done', completed: true })
    expect(created.body.data.completed_at).toBe(board.now)
  })

  test('a completed subtask keeps the time of its first completion, until it is not completed any more', async () => {
    const { board, cardId } = setup
    const path = `/subtasks/${await board.subtask(cardId)}`
    const completed_at = board.tick()
    const changes = [{ completed: true }, { completed: true }, { title: 'New' }, { completed: false }]
    const times: unknown[] = []
    for (const change of changes) {
      times.push((await board.patch(path, change)).body.data.completed_at)
      board.tick()
    }
    expect(times).toEqual([completed_at, completed_at, completed_at, null])
  })
})
