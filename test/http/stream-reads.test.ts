import { describe, expect, test } from 'vitest'
import { StreamReads } from '../../src/http/stream-reads.ts'
import { ApiError } from '../../src/model/errors.ts'
import type { StreamedResult } from '../../src/resources/result.ts'

/** What a read has found. */
const found = (position: string) => ({ position }) as StreamedResult

describe('a read that streams share', () => {
  /** Reads that a test ends. */
  function setUp() {
    const joint = new StreamReads(() => 5)
    const reads: { resolve: (result: StreamedResult) => void; reject: (error: Error) => void }[] = []
    const read = () => new Promise<StreamedResult>((resolve, reject) => void reads.push({ resolve, reject }))
    return { joint, reads, read }
  }

  test('is made once for those who are at the same place of the same feed', async () => {
    const { joint, reads, read } = setUp()
    const results = ['feed 1', 'feed 1', 'feed 2', 'feed 1'].map((place) => joint.read(place, 0, read))
    expect(reads).toHaveLength(2)
    reads[0]!.resolve(found('one'))
    reads[1]!.resolve(found('two'))
    expect((await Promise.all(results)).map((result) => result?.position)).toEqual(['one', 'one', 'two', 'one'])
  })

  test('is not joined after a hint that came later than it', async () => {
    const { joint, reads, read } = setUp()
    const before = joint.read('feed', 0, read)
    const after = joint.read('feed', 6, read)
    expect(reads).toHaveLength(2)
    // The end of the earlier one does not end the later one.
    reads[0]!.resolve(found('old'))
    expect((await before)?.position).toBe('old')
    const joined = joint.read('feed', 5, read)
    reads[1]!.resolve(found('new'))
    expect([(await after)?.position, (await joined)?.position, reads.length]).toEqual(['new', 'new', 2])
  })

  test.each([
    ['has ended', (read: any) => read.resolve(found('one')), 'one'],
    ['has failed, which is no result,', (read: any) => read.reject(new ApiError('cursor_expired')), undefined],
  ])('is forgotten when it %s', async (_how, end, position) => {
    const { joint, reads, read } = setUp()
    const first = joint.read('feed', 0, read)
    end(reads[0]!)
    expect((await first)?.position).toBe(position)
    void joint.read('feed', 0, read)
    expect(reads).toHaveLength(2)
  })
})
