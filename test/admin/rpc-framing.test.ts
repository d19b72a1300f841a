import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readLines, sendMessage } from '../../src/admin/rpc-server.ts'
import { newFolder } from '../support/run.ts'

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('the framing of RPC messages', () => {
  test('lines are read whatever the chunks of the stream are', async () => {
    for (const text of ['', 'one', 'one\n', '\n', 'é😀\n\ntwo\u2028\nthree', `${'long '.repeat(50)}\nend\n`]) {
      const expected = text.split('\n')
      if (expected.at(-1) === '') expected.pop()
      const bytes = Buffer.from(text)
      for (let size = 1; size <= bytes.length + 1; size++) {
        async function* chunks(): AsyncGenerator<Uint8Array> {
          for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
        }
        const lines: string[] = []
        for await (const line of readLines(chunks())) lines.push(line)
        expect([size, lines]).toEqual([size, expected])
      }
    }
  })

  test('a stream is not read further than its consumer needs', async () => {
    let read = 0
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (; read < 10; read++) yield Buffer.from(`${read}\n`)
    }
    const lines = readLines(chunks())
    expect([(await lines.next()).value, read]).toEqual(['0', 0])
    expect([(await lines.next()).value, read]).toEqual(['1', 1])
  })

  describe('with a peer that does not read', () => {
    let folder: string
    let server: Server
    let sender: Socket
    let receiver: Socket
    beforeEach(async () => {
      folder = newFolder()
      const path = join(folder, 's.sock')
      server = createServer()
      server.listen(path)
      await once(server, 'listening')
      const accepted = once(server, 'connection')
      sender = connect(path).on('error', () => undefined)
      ;[receiver] = (await accepted) as [Socket]
      receiver.pause()
    })
    afterEach(async () => {
      sender.destroy()
      receiver.destroy()
      await new Promise((resolve) => server.close(resolve))
    })
    const listeners = () => ['drain', 'close', 'error'].map((event) => sender.listenerCount(event))
    /** Sends a message that does not fit into the buffers. @returns the promise of `sendMessage` in an array, since it is pending */
    const fill = async (): Promise<[Promise<void>]> => {
      const sending = sendMessage(sender, { text: 'x'.repeat(5_000_000) })
      sending.catch(() => undefined)
      let settled = false
      void sending.then(
        () => (settled = true),
        () => (settled = true),
      )
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      expect(settled).toBe(false)
      return [sending]
    }

    test('a message is sent when the peer has read it, and no listener remains', async () => {
      const before = listeners()
      const [sending] = await fill()
      receiver.resume()
      await sending
      expect(listeners()).toEqual(before)
    })

    test.each<[string, () => void]>([
      ['the peer closes the connection', () => void receiver.destroy()],
      ['this process closes the connection', () => void sender.destroy()],
    ])('a message fails when %s, and so does the next one', async (_case, close) => {
      const [sending] = await fill()
      close()
      await expect(sending).rejects.toThrow(/the peer has closed the connection|ECONNRESET|EPIPE/)
      await expect(sendMessage(sender, {})).rejects.toThrow('the peer has closed the connection')
    })
  })
})
