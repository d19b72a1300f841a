import { expect, test } from 'vitest'
import { startListener } from '../../src/listener/listener.ts'
import { StorageUnavailable } from '../../src/store/port.ts'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { exchange } from '../support/raw-http.ts'
import { Service } from '../support/service.ts'

const CRLF = '\r\n'

test('a connection can be used again after a request that was refused in the middle of its body', async () => {
  const open = async () => {
    const opened = await memory.open()
    const write = async (_id: string, bytes: AsyncIterable<Uint8Array>) => {
      for await (const chunk of bytes) if (chunk.byteLength > 0) break
      throw new StorageUnavailable('gone')
    }
    return { ...opened, blobs: { ...opened.blobs, write } }
  }
  const service = await Service.start({ name: 'memory', open })
  const person = await service.person(await service.workspace())
  const board = await TestBoard.create(service, person)
  const card = await board.card(await board.column())
  const listener = await startListener(service.app.h3, { port: 0, host: '127.0.0.1' })
  const head = (...lines: string[]) => [...lines, 'host: x', `authorization: Bearer ${person.admin}`, '', ''].join(CRLF)
  const file = ['--x', 'content-disposition: form-data; name="file"; filename="a"', '', 'y'.repeat(5_000_000), '--x--', ''].join(CRLF)
  const received = await exchange(
    listener.port,
    head(`POST /v1/cards/${card}/attachments HTTP/1.1`, 'content-type: multipart/form-data; boundary=x', `content-length: ${file.length}`),
    file,
    head('GET /v1/account HTTP/1.1', 'connection: close'),
  )
  expect([...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['503', '200'])
  await listener.close()
  await service.stop()
})
