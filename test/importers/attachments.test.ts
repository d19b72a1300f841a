import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BoardLine } from '../../src/admin/board-lines.ts'
import { runCommand } from '../../src/admin/commands.ts'
import { importForeignBoard } from '../../src/importers/import.ts'
import { memory } from '../support/memory.ts'
import { Service, type ServiceOptions } from '../support/service.ts'
import { importText } from './text-import.ts'

const ID = '6540e1000000000000000061'
const upload = (id: string, name: string) => ({ id, name, isUpload: true, url: `https://trello.com/1/cards/x/${id}` })
/** A board with these attachments on the cards One, Two, and so on. */
function boardWith(...cards: object[][]): object {
  const names = ['One', 'Two/Zwei', 'Two/Zwei', 'One']
  return {
    name: 'Files',
    lists: [
      { id: 'l1', name: 'To do?', closed: false },
      { id: 'l2', name: 'Done', closed: false },
    ],
    cards: cards.map((attachments, i) => ({
      id: `c${i}`,
      shortLink: `short${i}`,
      idList: i < 3 ? 'l1' : 'l2',
      name: names[i],
      closed: i === 1,
      attachments,
    })),
  }
}

/** The bytes of the files that lines upload, by the names of the files. */
function filesIn(lines: readonly BoardLine[]): Record<string, string> {
  const files: Record<string, string> = {}
  for (const line of lines)
    if ('file' in line) files[line.file.name] = (files[line.file.name] ?? '') + Buffer.from(line.bytes, 'base64').toString()
  return files
}

describe('the files of attachments', () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'lanekeeper-attachments-'))))
  afterEach(() => rm(folder, { recursive: true }))
  const write = async (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
  }
  const importBoard = async (board: object, from = 'trello') => {
    const { result, lines } = await importText(from, JSON.stringify(board), { attachments: join(folder, 'files') })
    const counts = Object.fromEntries(result.not_carried.map(({ kind, count }) => [kind, count]))
    return { files: filesIn(lines), attachments: result.attachments, counts, lines }
  }

  test.each<[what: string, files: Record<string, string>, board: object, expected: Record<string, string>, missing: number]>([
    ['by their ids', { [`files/${ID}`]: 'a' }, boardWith([upload(ID, 'a.pdf')]), { 'a.pdf': 'a' }, 0],
    ['by their ids and an extension', { [`files/x/${ID}.pdf`]: 'a' }, boardWith([upload(ID, 'a.pdf')]), { 'a.pdf': 'a' }, 0],
    ['by their ids and names', { [`files/${ID}-a.pdf`]: 'a' }, boardWith([upload(ID, 'a.pdf')]), { 'a.pdf': 'a' }, 0],
    [
      'by their ids and sizes',
      { [`files/0_Done/0_x/attachments/3_${ID}_9.pdf`]: 'a' },
      boardWith([upload(ID, 'a.pdf')]),
      { 'a.pdf': 'a' },
      0,
    ],
    ['by folders with their ids', { [`files/${ID}/anything.bin`]: 'a' }, boardWith([upload(ID, 'a.pdf')]), { 'a.pdf': 'a' }, 0],
    ['by their names alone', { 'files/a.pdf': 'a' }, boardWith([upload('1', 'a.pdf')]), { 'a.pdf': 'a' }, 0],
    [
      'by the folders of lists and cards',
      {
        'files/me/Files/0_To do_/0_One/attachments/0_what_.txt': 'first',
        'files/me/Files/0_To do_/0_One/attachments/2_same': 'second',
        'files/me/Files/0_To do_/0_One/attachments/10_same': 'third',
        'files/me/Files/1_Done/0_One/attachments/0_what_.txt': 'fourth',
        'files/me/Files/1_Done/0_One/attachments/1_.ssh': 'x',
      },
      boardWith([upload('1', 'what?.txt'), upload('2', 'same'), upload('3', 'same')], [], [], [upload('4', 'what?.txt')]),
      { 'what?.txt': 'firstfourth', same: 'secondthird' },
      0,
    ],
    ['not by a name that two attachments have', { 'files/a.pdf': 'a' }, boardWith([upload('1', 'a.pdf')], [upload('2', 'a.pdf')]), {}, 2],
    ['not by a name that two files have', { 'files/x/a.pdf': 'a', 'files/y/a.pdf': 'b' }, boardWith([upload('1', 'a.pdf')]), {}, 1],
    [
      'not by the folder of cards with the same names',
      { 'files/0_To do_/1_Two_Zwei/attachments/0_b': 'b' },
      boardWith([], [upload('1', 'b')], [upload('2', 'b')]),
      {},
      2,
    ],
    [
      'never by a path',
      { 'secret.txt': 's', 'files/x': 'x' },
      boardWith([upload('../secret.txt', '../secret.txt'), upload('..', '..'), upload('', join('..', 'files', 'x'))]),
      {},
      3,
    ],
  ])('are found %s', async (_what, files, board, expected, missing) => {
    await write(files)
    const found = await importBoard(board)
    expect(found.files).toEqual(expected)
    expect(found.counts['attachments_missing'] ?? 0).toBe(missing)
  })

  test('are not looked for behind symbolic links, which are reported', async () => {
    await write({ 'elsewhere/a.pdf': 'secret', 'files/b.pdf': 'b' })
    await symlink(join(folder, 'elsewhere'), join(folder, 'files/folder'))
    await symlink(join(folder, 'elsewhere/a.pdf'), join(folder, 'files/a.pdf'))
    const { files, counts } = await importBoard(boardWith([upload('1', 'a.pdf'), upload('2', 'b.pdf')]))
    expect(files).toEqual({ 'b.pdf': 'b' })
    expect(counts).toMatchObject({ symbolic_links: 2, attachments_missing: 1 })
  })

  test('replace the links in the description, and those that are missing or no uploads stay links', async () => {
    await write({ [`files/${ID}`]: 'a' })
    const link = { id: '9', name: 'page', isUpload: false, url: 'https://example.org/page' }
    const { lines, counts, attachments } = await importBoard(boardWith([upload(ID, 'a.pdf'), upload('8', 'gone.pdf'), link]))
    const card = lines.find((line) => 'operation' in line && line.operation === 'cards.create') as any
    expect(card.body.description).toBe('Attachments:\n- [gone.pdf](https://trello.com/1/cards/x/8)\n- [page](https://example.org/page)')
    expect({ attachments, counts }).toEqual({ attachments: 1, counts: { attachments_missing: 1 } })
  })

  test('of Planka are found by the ids of the attachments', async () => {
    await write({ 'files/92/map.png': 'png' })
    const attachments = [{ id: '92', cardId: '51', type: 'file', name: 'map.png', data: { url: '/attachments/92/download/map.png' } }]
    const included = { lists: [{ id: '41', name: 'Beds' }], cards: [{ id: '51', listId: '41', name: 'Sow' }], attachments }
    const { files, counts } = await importBoard({ item: { id: '1', name: 'Garden' }, included }, 'planka')
    expect({ files, counts }).toEqual({ files: { 'map.png': 'png' }, counts: {} })
  })

  test('that are too large for an upload stay links', async () => {
    await write({ [`files/${ID}`]: '' })
    await truncate(join(folder, 'files', ID), 25 * 1024 * 1024 + 1)
    const { files, counts } = await importBoard(boardWith([upload(ID, 'a.pdf')]))
    expect({ files, counts }).toEqual({ files: {}, counts: { attachments_too_large: 1 } })
  })

  test('are not looked for in a folder that does not exist', async () => {
    await expect(importBoard(boardWith([]))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('--attachments: ENOENT'),
    })
  })

  /** Imports a board into a service of its own. @returns the report, and the descriptions and the files of the cards */
  const importIntoService = async (board: object, options: ServiceOptions = {}, dryRun = false) => {
    const service = await Service.start(memory, options)
    try {
      const olivia = await service.person(await service.workspace(), 'owner', 'Olivia Stone')
      const run = (name: string, input: object, { lines }: { lines: AsyncIterable<string> }) =>
        runCommand(service.adminDeps, name, input, { progress: () => undefined, write: async () => undefined, lines })
      const result = await importForeignBoard(
        JSON.stringify(board),
        {
          from: 'trello',
          workspace: olivia.workspaceId,
          user: olivia.id,
          members: [],
          dryRun,
          attachments: `${folder}/files`,
        },
        run,
      )
      const found: { files: [string, number][]; descriptions: string[] } = { files: [], descriptions: [] }
      for (const query of dryRun ? [] : ['', '?archived=true'])
        for (const { id, description } of (await service.send(olivia.read, 'GET', `/boards/${result.board_id}/cards${query}`)).body.data) {
          found.descriptions.push(description)
          for (const { name, size } of (await service.send(olivia.read, 'GET', `/cards/${id}/attachments`)).body.data)
            found.files.push([name, size])
        }
      return { ...found, result }
    } finally {
      await service.stop()
    }
  }

  test('are attached to the cards as they are, archived ones included', async () => {
    const bytes = 'é\u0000'.repeat(300_000)
    await write({ [`files/${ID}`]: bytes, 'files/quote"ü\\.txt': 'name', 'files/empty.txt': '' })
    const board = boardWith([upload(ID, 'a.bin'), upload('2', 'empty.txt')], [upload('3', 'quote"ü\\.txt')])
    expect((await importIntoService(board)).files).toEqual([
      ['a.bin', Buffer.byteLength(bytes)],
      ['empty.txt', 0],
      // As of each upload, what stands before a backslash is left out.
      [expect.stringMatching(/\.txt$/), 4],
    ])
  })

  test.each([true, false])(
    'that are larger than an upload of the service stay links, and the rest is imported (dry run: %s)',
    async (dryRun) => {
      await write({ 'files/fits.bin': 'x'.repeat(2048), 'files/large.bin': 'x'.repeat(2049) })
      const board = boardWith([upload('1', 'fits.bin'), upload('2', 'large.bin')])
      const { files, descriptions, result } = await importIntoService(board, { uploadBytes: 2048 }, dryRun)
      expect(result.not_carried).toMatchObject([{ kind: 'attachments_too_large', count: 1, examples: ['One: large.bin'] }])
      expect(result.attachments).toBe(1)
      if (dryRun) return
      expect({ files, descriptions }).toEqual({
        files: [['fits.bin', 2048]],
        descriptions: ['Attachments:\n- [large.bin](https://trello.com/1/cards/x/2)'],
      })
    },
  )
})
