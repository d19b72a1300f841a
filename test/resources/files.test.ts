import { describe, expect, test } from 'vitest'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { forbidden, invalid, notFound } from './refusals.ts'

describe.each(drivers)('files, on $name', (driver) => {
  const setup = setUpBoard(driver)
  const attach = async (visibility?: string) => (await setup.board.attach(setup.cardId, { visibility })).body.data

  test('an uploaded file is private by default, and its owner can give the workspace access to it', async () => {
    const { service, ann, bob, board } = setup
    const { file_id } = await attach()
    const createdAt = board.now
    const later = board.tick()
    const update = (token: string) => service.send(token, 'PATCH', `/files/${file_id}`, { visibility: 'workspace' })
    expect(await update(bob.write)).toMatchObject(notFound)
    const updated = await update(ann.write)
    expect([updated.status, updated.body]).toEqual([
      200,
      {
        data: {
          id: file_id,
          owner_id: ann.id,
          visibility: 'workspace',
          name: 'a.txt',
          content_type: 'text/plain',
          size: 5,
          created_at: createdAt,
          updated_at: later,
        },
      },
    ])
    expect(await update(bob.write)).toMatchObject(forbidden('X2'))
  })

  test('an upload can give the workspace access to its file', async () => {
    const { service, bob } = setup
    const { file_id } = await attach('workspace')
    expect(await service.send(bob.write, 'PATCH', `/files/${file_id}`, { visibility: 'private' })).toMatchObject(forbidden('X2'))
  })

  test('setting the visibility that a file has changes neither the file nor its ETag', async () => {
    const { board } = setup
    const { file_id } = await attach()
    const first = await board.patch(`/files/${file_id}`, { visibility: 'workspace' })
    board.tick()
    const second = await board.patch(`/files/${file_id}`, { visibility: 'workspace' })
    expect([second.text, second.headers.get('etag')]).toEqual([first.text, first.headers.get('etag')])
  })

  test('an update of a file takes a visibility and no other member', async () => {
    const { board } = setup
    const { file_id } = await attach()
    const update = (body: object) => board.send('PATCH', `/files/${file_id}`, body)
    expect(await update({})).toMatchObject(invalid('visibility'))
    expect(await update({ visibility: 'public' })).toMatchObject(invalid('visibility'))
    expect(await update({ visibility: 'private', owner_id: setup.bob.id })).toMatchObject(invalid('owner_id'))
  })

  test('an attachment stays readable and unchanged when its file becomes private', async () => {
    const { service, bob, board } = setup
    const { id, file_id } = await attach('workspace')
    const read = () => service.send(bob.read, 'GET', `/attachments/${id}`)
    const before = await read()
    board.tick()
    await board.patch(`/files/${file_id}`, { visibility: 'private' })
    const after = await read()
    expect([after.text, after.headers.get('etag')]).toEqual([before.text, before.headers.get('etag')])
  })
})
