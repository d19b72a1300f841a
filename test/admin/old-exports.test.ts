import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importWorkspace } from '../../src/admin/import.ts'
import { keys } from '../../src/store/keys.ts'
import { drivers } from '../support/drivers.ts'
import { findDamage } from '../support/findings.ts'
import { answers, exportLines, known, serviceOf } from '../support/format-1.ts'
import * as format2 from '../support/format-2.ts'
import { Service } from '../support/service.ts'

const NO_OUTPUT = { progress: () => undefined, write: async () => undefined }

describe.each(drivers)('exports of format 1, imported on $name', (driver) => {
  let service: Service
  beforeAll(async () => {
    service = await Service.start(driver)
    service.now = Date.parse(known.now)
    for (const name of ['Acme', 'Globex'] as const)
      await importWorkspace(service.adminDeps, {
        ...NO_OUTPUT,
        lines: (async function* () {
          yield* exportLines(name)
        })(),
      })
  })
  afterAll(() => service.stop())

  test('are answered as by the code that wrote them', async () => {
    const { store, blobs } = service.adminDeps
    const { answer } = serviceOf({ store, blobs })
    // The ETags of resources are revisions, which an import does not have. Those of bytes are their hashes.
    const comparable = ({ etag, ...rest }: (typeof answers)[number]) => (rest.path.endsWith('/content') ? { etag, ...rest } : rest)
    for (const expected of answers) expect(comparable(await answer(expected))).toEqual(comparable(expected))
  })

  test('have tombstones under their present names, and no damage', async () => {
    const found = await service.recordKeys(known.workspaces.Acme)
    expect(found.filter((key) => key.startsWith('tombstone:')).toSorted()).toEqual(
      exportLines('Acme')
        .map((line) => JSON.parse(line) as { key?: string })
        .flatMap(({ key = '' }) => (key.startsWith('trash:') ? [key.replace('trash:trs_', 'tombstone:tmb_')] : []))
        .toSorted(),
    )
    expect((await findDamage(service.adminDeps)).findings).toEqual([])
  })
})

describe.each(drivers)('an export of format 2, imported on $name', (driver) => {
  let service: Service
  beforeAll(async () => {
    service = await Service.start(driver)
    service.now = Date.parse(format2.known.now)
  })
  afterAll(() => service.stop())

  test('gives each file the board of its oldest attachment, and no damage', async () => {
    await importWorkspace(service.adminDeps, {
      ...NO_OUTPUT,
      lines: (async function* () {
        yield* format2.exportLines()
      })(),
    })
    const { files, boards } = format2.known
    for (const [name, [home, visibility]] of Object.entries(format2.expectedFiles)) {
      const file = await service.write(format2.known.workspace, (tx) => tx.get(keys.file(files[name]!)))
      expect([name, file]).toMatchObject([name, { board_id: home === null ? null : boards[home], visibility }])
    }
    expect((await findDamage(service.adminDeps)).findings).toEqual([])
  })
})
