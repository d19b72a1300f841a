import { describe, expect, test } from 'vitest'
import { encodeLine } from '../../src/decision-log/line.ts'
import { isChain, linesOf, logDisk, openLog, PATH, verify } from '../support/decision-log.ts'

describe('a decision log', async () => {
  const disk = await logDisk()
  // Two processes, one after the other.
  for (const bodies of [
    ['"kind":"a","text":"}"', '"kind":"b"', '"kind":"c","of":1'],
    ['"kind":"d"', '"kind":"e"'],
  ]) {
    const log = await openLog(disk)
    for (const body of bodies) await log.write(body)
    await log.close()
  }
  const text = (await disk.read(PATH))!.toString()
  const lines = text.split('\n').slice(0, -1)
  const hashes = (await linesOf(disk)).map(({ hash }) => hash)
  const join = (some: readonly string[]) => some.map((line) => `${line}\n`).join('')
  const last = () => hashes.at(-1)!

  test('is a chain of SHA-256 hashes, also across processes', () => {
    const kinds = lines.map((line) => JSON.parse(line)).map(({ kind, n }) => `${n} ${kind}`)
    expect(kinds).toEqual(['0 start', '1 a', '2 b', '3 c', '4 start', '5 d', '6 e'])
    expect(isChain(text)).toBe(true)
  })

  test('is verified without a finding, and its head is the anchor for later', async () => {
    expect(await verify([text])).toEqual({
      files: 1,
      lines: 7,
      findings: 0,
      begins_after: null,
      head: last(),
      torn: 0,
      open_end: false,
      found: [],
    })
    for (const anchor of hashes) expect((await verify([text], [anchor])).findings).toBe(0)
  })

  test('with any altered byte is found', async () => {
    const bytes = Buffer.from(text)
    const missed: [number, number][] = []
    for (let at = 0; at < bytes.length; at++)
      for (const change of [1, 128, bytes[at]! ^ 10, bytes[at]! ^ 48]) {
        if (change === 0) continue
        const altered = Buffer.from(bytes)
        altered[at]! ^= change
        const { findings } = await verify([altered])
        if (findings === 0) missed.push([at, change])
      }
    expect(missed).toEqual([])
  })

  test('without any one of its lines, or any run of lines, is found; without its last ones given an anchor', async () => {
    const missed: unknown[] = []
    for (let from = 0; from < lines.length; from++)
      for (let to = from + 1; to <= lines.length; to++) {
        const rest = [...lines.slice(0, from), ...lines.slice(to)]
        // The last lines leave no gap.
        const { findings } = await verify([join(rest)], to === lines.length ? [last()] : [])
        if (findings === 0) missed.push([from, to])
      }
    expect(missed).toEqual([])
  })

  test('that begins later is found, unless the caller names the line before', async () => {
    const rest = [join(lines.slice(2))]
    const beginning = { kind: 'missing', line: 1, message: expect.stringContaining('the beginning is missing') }
    expect(await verify(rest)).toMatchObject({ begins_after: hashes[1], found: [beginning] })
    expect((await verify(rest, [hashes[1]!])).found).toMatchObject([beginning, { kind: 'anchor_missing' }])
    expect((await verify(rest, [], hashes[0])).found).toMatchObject([beginning])
    expect((await verify([text], [], hashes[1])).found).toMatchObject([beginning])
    expect((await verify(rest, [hashes[1]!], hashes[1])).found).toEqual([])
    expect((await verify(rest, [hashes[0]!], hashes[1])).found).toMatchObject([{ kind: 'anchor_missing' }])
  })

  test('has findings with a place and a message', async () => {
    const [kindOfD, hashOfD] = ['"kind":"d"', hashes[5]!]
    /** The first lines, and one that has this number and follows this hash. */
    const withLine = (count: number, prev: string | null, n: number) =>
      join([...lines.slice(0, count), encodeLine(prev, n, '"kind":"x"').text.trimEnd()])
    const at = (line: number) => join(lines.slice(0, line - 1)).length
    const cases: [
      files: string[],
      found: [kind: string, file: string, line: number, byte: number, message: string][],
      anchors?: string[],
    ][] = [
      [[], [['missing', '', 0, 0, 'the log has no line']]],
      [[''], [['missing', 'file 0', 0, 0, 'the log has no line']]],
      [[text.slice(0, 20)], [['missing', 'file 0', 1, 0, 'the log has no line']]],
      [
        [text.replace(kindOfD, '"kind":"x"')],
        [
          ['altered', 'file 0', 6, at(6), 'this line has not the hash of its content'],
          ['anchor_missing', 'file 0', 7, at(7), `no intact line has the hash ${hashOfD}: lines were cut off`],
        ],
        // What only an altered line states proves nothing.
        [hashOfD],
      ],
      [[text, ''], [['anchor_missing', 'file 0', 7, at(7), 'no intact line has the hash 0: lines were cut off']], ['0']],
      // The hash alone was altered: the next line follows its content.
      [
        [text.replace(`"hash":"${hashOfD}"`, `"hash":"${'0'.repeat(64)}"`)],
        [['altered', 'file 0', 6, at(6), 'this line has not the hash of its content']],
      ],
      // What is no line may have been one, so the gap behind it is no further finding.
      [[text.replace(lines[2]!, 'x')], [['malformed', 'file 0', 3, at(3), 'this is no line of a decision log']]],
      [
        [`${text}{"pr`, '{"pr'],
        [
          ['malformed', 'file 0', 8, text.length, 'this is no line of a decision log'],
          ['malformed', 'file 1', 1, 0, 'this is no line of a decision log'],
        ],
      ],
      [[withLine(0, null, 3)], [['missing', 'file 0', 1, 0, 'the beginning is missing: this is line 3 of the log, after no line']]],
      [[join(lines.slice(1))], [['missing', 'file 0', 1, 0, `the beginning is missing: this is line 1 of the log, after ${hashes[0]}`]]],
      [[withLine(2, hashes[0]!, 2)], [['missing', 'file 0', 3, at(3), 'lines are missing before this line']]],
      [[withLine(2, hashes[2]!, 3)], [['missing', 'file 0', 3, at(3), 'a line is missing before this line']]],
      [[withLine(2, hashes[3]!, 4)], [['missing', 'file 0', 3, at(3), '2 lines are missing before this line']]],
      [[withLine(2, hashes[0]!, 1)], [['out_of_order', 'file 0', 3, at(3), 'this line was written before the line above']]],
    ]
    for (const [files, expected, anchors] of cases) {
      const { found, findings } = await verify(files, anchors)
      const places = found.map(({ kind, file, line, byte, message }) => [kind, file, line, byte, message])
      expect({ places, findings }).toEqual({ places: expected, findings: expected.length })
    }
    expect((await verify([''])).open_end).toBe(false)
  })

  test('cut at any byte is found, given an anchor', async () => {
    const bytes = Buffer.from(text)
    const missed: number[] = []
    // The line break at the end belongs to no record.
    for (let size = 0; size < bytes.length - 1; size++)
      if ((await verify([bytes.subarray(0, size)], [last()])).findings === 0) missed.push(size)
    expect(missed).toEqual([])
  })

  test('cut in its last line has an open end, and no finding without an anchor', async () => {
    expect(await verify([text.slice(0, -5)])).toMatchObject({ findings: 0, open_end: true, lines: 6, head: hashes[5] })
    expect((await verify([`${text.slice(0, -1)}x`])).found).toMatchObject([{ kind: 'malformed', line: 7 }])
  })

  test('whose lines were moved is found', async () => {
    const missed: unknown[] = []
    for (let a = 0; a < lines.length; a++)
      for (let b = a + 1; b < lines.length; b++) {
        const moved = [...lines]
        ;[moved[a], moved[b]] = [moved[b]!, moved[a]!]
        if ((await verify([join(moved)])).findings === 0) missed.push([a, b])
      }
    expect(missed).toEqual([])
  })

  test('with a line that is repeated, inserted or blank is found', async () => {
    for (const line of [lines[1]!, '', '{"prev":null}', 'nonsense'])
      for (let at = 0; at <= lines.length; at++)
        expect([line, at, (await verify([join(lines.toSpliced(at, 0, line))])).findings > 0]).toEqual([line, at, true])
  })

  test('in several files is one chain; a file that is missing or in the wrong place is found', async () => {
    const [a, b, c] = [join(lines.slice(0, 2)), join(lines.slice(2, 5)), join(lines.slice(5))]
    expect(await verify([a, b, c])).toMatchObject({ files: 3, lines: 7, findings: 0 })
    expect((await verify([a, c])).found).toMatchObject([{ kind: 'missing', file: 'file 1', line: 1, byte: 0 }])
    expect((await verify([b, a, c])).findings).toBeGreaterThan(0)
  })
})

describe('a line that a crash has torn', () => {
  const crashed = async (cut: number) => {
    const disk = await logDisk()
    const first = await openLog(disk)
    await first.write('"kind":"a"')
    await first.write('"kind":"b"')
    const whole = (await disk.read(PATH))!
    const file = await disk.append(PATH)
    await file.truncate(whole.length - cut)
    const second = await openLog(disk)
    await second.write('"kind":"c"')
    return (await disk.read(PATH))!.toString()
  }

  test('is recognized by the next process, which goes on with the chain, wherever it was torn', async () => {
    const { length } = '{"prev":"","n":2,"kind":"b","hash":""}\n'
    for (let cut = 2; cut < length + 128; cut++) {
      const text = await crashed(cut)
      expect([cut, await verify([text])]).toMatchObject([cut, { findings: 0, torn: 1, lines: 4 }])
      expect(text).toContain('"kind":"c"')
    }
  })

  test('is a whole line if only its line break is missing', async () => {
    expect(await verify([await crashed(1)])).toMatchObject({ findings: 0, torn: 0, lines: 5 })
  })

  test('is found when it was altered or removed later', async () => {
    const text = await crashed(20)
    const torn = text.split('\n')[2]!
    expect((await verify([text.replace(torn, torn.replace('"b"', '"x"'))])).found).toMatchObject([{ kind: 'malformed', line: 3 }])
    const missing = { kind: 'missing', file: 'file 0', line: 3 }
    const found = [{ ...missing, byte: text.indexOf(torn), message: 'what a crash has left before this line is missing' }]
    expect((await verify([text.replace(`${torn}\n`, '')])).found).toEqual(found)
    // It does not hide that the line before it is missing.
    const before = text.split('\n')[1]!
    expect((await verify([text.replace(`${before}\n`, '')])).found).toMatchObject([
      { ...missing, message: 'a line is missing before this line' },
    ])
  })

  test('at the very beginning of a log is recognized, too', async () => {
    const disk = await logDisk()
    const file = await disk.append(PATH)
    await file.write(Buffer.from('{"pre'))
    await openLog(disk)
    expect(await verify([(await disk.read(PATH))!])).toMatchObject({ findings: 0, torn: 1, lines: 1 })
  })

  test('does not begin in a file that is something else', async () => {
    const disk = await logDisk()
    const file = await disk.append(PATH)
    await file.write(Buffer.from('# notes\n'))
    await expect(openLog(disk)).rejects.toThrow('/logs/decisions.jsonl is not a decision log')
    expect((await disk.read(PATH))!.toString()).toBe('# notes\n')
  })
})
