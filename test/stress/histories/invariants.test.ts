import { describe, expect, test } from 'vitest'
import { keys, type Key } from '../../../src/store/keys.ts'
import { setUpBoard, type BoardSetup } from '../../support/board.ts'
import { memory } from '../../support/memory.ts'
import { checkInvariants } from './invariants.ts'

/** Changes a record past the API. */
const change = <T extends object>({ service, workspaceId }: BoardSetup, key: Key<T>, changes: Partial<T>): Promise<void> =>
  service.write(workspaceId, async (tx) => tx.put(key, { ...(await tx.get(key))!, ...changes }))

/** Violations that the check of the command line does not name: the others are tested in `admin/check.test.ts`. */
const violations: Readonly<Record<string, (setup: BoardSetup) => Promise<unknown>>> = {
  'what the check of the command line finds': (setup) => change(setup, keys.card(setup.cardId), { column_id: 'col_00000000000000000000' }),
  'a file without an attachment or a tombstone': async (setup) => {
    const { id } = (await setup.board.attach(setup.cardId)).body.data
    await setup.service.write(setup.workspaceId, async (tx) => (await tx.get(keys.attachment(id)), tx.remove(keys.attachment(id))))
  },
  'a board member whose membership has ended': async ({ service, workspaceId, board }) => {
    const person = await service.person(workspaceId)
    await board.add(person)
    await service.leaveOnly(workspaceId, person.id)
  },
  'a card with a label twice': async (setup) => {
    const label = await setup.board.label()
    await change(setup, keys.card(setup.cardId), { label_ids: [label, label] })
  },
  'an assignee who cannot see the board': async (setup) => {
    await change(setup, keys.card(setup.cardId), { assignee_ids: [setup.bob.id] })
    await change(setup, keys.board(setup.board.id), { visibility: 'private' })
  },
}

describe.each(Object.entries(violations))('the check of the invariants', (name, plant) => {
  const setup = setUpBoard(memory)

  test(`finds a planted violation, and nothing before: ${name}`, async () => {
    await checkInvariants(setup.service, setup.workspaceId)
    await plant(setup)
    await expect(checkInvariants(setup.service, setup.workspaceId)).rejects.toThrow()
  })
})
