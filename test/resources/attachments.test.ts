import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/admin/garbage-collection.ts'
import { recordUses, setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { bytes } from '../support/service.ts'
import { conflict } from './refusals.ts'

const MINUTE = 60_000
const UPLOAD_BYTES = 1024 * 1024

describe.each(drivers)('attachments, on $name', (driver) => {
  const setup = setUpBoard(driver, { uploadBytes: UPLOAD_BYTES })
  const upload = (form: FormData) => setup.service.upload(setup.ann.write, `/cards/${setup.cardId}/files`, form)
  const download = (id: string, headers: Record<string, string> = {}, token = setup.ann.read) =>
    setup.service.fetch(token, 'GET', `/attachments/${id}/content`, headers)
  const list = (cardId = setup.cardId) => setup.board.all(`/cards/${cardId}/attachments`)

  describe('attach, list, read and detach', () => {
    test('a file is attached to another card by its id, but only once to the same card', async () => {
      const { service, bob, board, columnId, cardId } = setup
      const { data } = (await board.attach(cardId, { visibility: 'workspace' })).body
      const otherId = await board.card(columnId)
      const later = board.tick()
      const attach = (id: string) => service.send(bob.write, 'POST', `/cards/${id}/attachments`, { file_id: data.file_id })
      const second = await attach(otherId)
      const expected = { ...data, id: second.body.data.id, card_id: otherId, attached_by_id: bob.id, created_at: later, updated_at: later }
      expect({ status: second.status, body: second.body }).toEqual({ status: 201, body: { data: expected } })
      expect(second.body.data.id).not.toBe(data.id)
      for (const id of [cardId, otherId]) expect(await attach(id)).toMatchObject(conflict('The file is attached to this card already.'))
      expect(await list(otherId)).toEqual([expected])
    })
  })

  describe('upload', () => {
    test('a download returns exactly the uploaded bytes, for every size up to the limit', async () => {
      const { cardId } = setup
      for (const size of [0, 1, 1000, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, UPLOAD_BYTES]) {
        const content = randomBytes(size)
        const form = new FormData()
        form.set('file', new File([content], 'random.bin'))
        const { status, body } = await upload(form)
        const attachment = { card_id: cardId, name: 'random.bin', content_type: 'application/octet-stream', size }
        expect({ status, data: body.data }).toMatchObject({ status: 201, data: attachment })
        const response = await download(body.data.id)
        expect(Number(response.headers.get('content-length'))).toBe(size)
        expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true)
      }
    })

    test('an upload to a hidden card is answered like one to an absent card', async () => {
      const { bob, board, cardId } = setup
      await board.makePrivate()
      const attach = (id: string) => board.attach(id, { token: bob.write })
      expect(bytes(await attach(cardId))).toBe(bytes(await attach('crd_00000000000000000000')))
    })

    test('an upload whose commit conflicts with other writes succeeds without sending its bytes again', async () => {
      const { service, ann, board, cardId } = setup
      await recordUses(service, ann)
      let renames = 0
      const rename = async (): Promise<void> => {
        if (renames++ > 2) return
        await board.patch(`/boards/${board.id}`, { name: `rename ${renames}` })
        service.store.beforeCommit = rename
      }
      service.store.beforeCommit = rename
      const reply = await board.attach(cardId, { text: 'once' })
      expect(reply.status).toBe(201)
      expect(renames).toBeGreaterThan(1)
      expect(await (await download(reply.body.data.id)).text()).toBe('once')
    })

    test('an upload whose bytes are removed before its second commit is refused, and none of them stay stored', async () => {
      const { service, workspaceId, ann, board, cardId } = setup
      await recordUses(service, ann)
      // The first commit of an upload registers its bytes for removal, the second one creates the file.
      service.store.afterCommit = async () => {
        service.store.beforeCommit = async () => {
          service.now += 60 * MINUTE
          await collectGarbage(service.adminDeps, workspaceId)
        }
      }
      expect(await board.attach(cardId)).toMatchObject(conflict('The upload took too long, so its bytes were removed. Send it again.'))
      expect(await list()).toEqual([])
      expect(await service.blobKeys()).toEqual(await service.blobKeysInUse(workspaceId))
    })
  })
})
