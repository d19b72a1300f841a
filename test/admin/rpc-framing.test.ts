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

  test.each<[string, number[]]>([
    ['a byte of Latin-1', [0x61, 0xe9, 0x0a]],
    ['half a character at the end', [0x61, 0x0a, 0xc3]],
    ['text in UTF-16', [0xff, 0xfe, 0x61, 0x00]],
  ])('%s is refused, because it is not UTF-8', async (_what, bytes) => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (const byte of bytes) yield Uint8Array.of(byte)
    }
    const lines = readLines(chunks())
    const reading = async () => {
      while ((await lines.next()).done !== true);
    }
    await expect(reading()).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('not UTF-8') as string })
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
