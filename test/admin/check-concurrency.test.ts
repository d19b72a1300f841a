import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { decorateStore } from '../../src/store/port.ts'
import { indexes } from '../../src/store/indexes.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'

describe.each(drivers)('a check of storage in use on $name', (driver) => {
  const setup = setUpBoard(driver)

  test('finds nothing when garbage collection ends in the middle of it', async () => {
    await setup.board.comment(setup.cardId)
    await setup.board.delete(`/cards/${setup.cardId}`)
    let collected = false
    const store = decorateStore(setup.service.adminDeps.store, {
      async read(partition, request) {
        // The tombstone that explains why the card of a comment is missing is about to be read.
        if (request.ranges.some(({ index }) => index === indexes.tombstones().name) && !collected) {
          collected = true
          await collectGarbage(setup.service.adminDeps, setup.workspaceId)
        }
        return setup.service.adminDeps.store.read(partition, request)
      },
    })
    expect({ findings: (await findDamage({ ...setup.service.adminDeps, store })).findings, collected }).toEqual({
      findings: [],
      collected: true,
    })
  })

  test('finds nothing when a file is uploaded in the middle of it', async () => {
    let uploaded = false
    const store = decorateStore(setup.service.adminDeps.store, {
      async *indexNames(partition) {
        // All records of the workspace have been read.
        if (partition === setup.workspaceId) await setup.board.attach(setup.cardId).then(() => (uploaded = true))
        yield* setup.service.adminDeps.store.indexNames(partition)
      },
    })
    expect({ findings: (await findDamage({ ...setup.service.adminDeps, store })).findings, uploaded }).toEqual({
      findings: [],
      uploaded: true,
    })
  })

  test('finds nothing when the record of bytes is replaced during two of its scans', async () => {
    await setup.board.attach(setup.cardId)
    const present = setup.service.adminDeps.store
    // The second scan is the one of the indexes.
    let scans = 0
    const store = decorateStore(present, {
      async *scan(partition) {
        const hidden = partition === setup.workspaceId && ++scans <= 3
        for await (const batch of present.scan(partition)) yield hidden ? batch.filter(([key]) => !key.startsWith('file:')) : batch
      },
    })
    const { findings } = await findDamage({ ...setup.service.adminDeps, store })
    // In truth, the count of the bytes would have changed with the record.
    expect({ findings: findings.filter(({ kind }) => kind !== 'file_bytes_wrong'), scans }).toEqual({ findings: [], scans: 4 })
  })

  test('finds nothing while requests write', async () => {
    const labelId = await setup.board.label()
    const write = async () => {
      for (let i = 0; i < 25; i++) {
        const id = await setup.board.card(setup.columnId, `Card ${i}`)
        await Promise.all([setup.board.put(`/cards/${id}/labels/${labelId}`), setup.board.comment(id), setup.board.attach(id)])
        await setup.board.post(`/cards/${id}/move`, { to: 'first' })
        if (i % 2 === 0) await setup.board.delete(`/cards/${id}`)
      }
    }
    let writing = true
    const writers = Promise.all([write(), write()]).finally(() => (writing = false))
    for (let time = 0; writing; time++)
      expect((await findDamage(setup.service.adminDeps, { reindex: time % 2 === 0 })).findings).toEqual([])
    await writers
    expect((await findDamage(setup.service.adminDeps)).findings).toEqual([])
  })
})
