import { describe, expect, test } from 'vitest'
import { readLines } from '../../src/admin/rpc-server.ts'

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
    expect({ line: (await lines.next()).value, read }).toEqual({ line: '0', read: 0 })
    expect({ line: (await lines.next()).value, read }).toEqual({ line: '1', read: 1 })
  })
})
