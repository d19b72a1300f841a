import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { readRecord } from '../../src/admin/records.ts'
import { noIo } from '../../src/cli/command.ts'
import { keys } from '../../src/store/keys.ts'
import { setUpBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'
import { signedIn, textOf } from '../support/visitor.ts'

const REFUSED = 'must not contain invisible characters'
const invisible = ['\u200b', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069', '\ufeff']
/** The joiners of an emoji and of Persian, and the mark of a direction. */
const needed = ['👩\u200d🚀', 'می\u200cخواهم', 'a\u200f!']

describe('names in the API', () => {
  const setup = setUpBoard(drivers[0]!)
  const writes: [string, (name: string) => readonly [method: string, path: string, body: object]][] = [
    ['a new board', (name) => ['POST', '/boards', { name }]],
    ['a board', (name) => ['PATCH', `/boards/${setup.board.id}`, { name }]],
    ['a new column', (name) => ['POST', `/boards/${setup.board.id}/columns`, { name }]],
    ['a column', (name) => ['PATCH', `/columns/${setup.columnId}`, { name }]],
    ['a label', (name) => ['POST', `/boards/${setup.board.id}/labels`, { name, color: '#000000' }]],
  ]
  test.each(writes)('the name of %s has no invisible characters, but may have the joiners', async (_text, writeOf) => {
    for (const character of invisible) {
      for (const name of [`pay${character}pal`, `${character}pal`, `pal${character}`, character]) {
        const reply = await setup.board.send(...writeOf(name))
        expect({ name, status: reply.status, issues: reply.body.error?.issues }).toEqual({
          name,
          status: 422,
          issues: [{ in: 'body', path: 'name', message: expect.stringContaining(REFUSED) as string }],
        })
      }
    }
    for (const name of needed) expect((await setup.board.send(...writeOf(name))).status).toBeLessThan(300)
  })

  test('a name that was stored earlier stays, is exported and imported unchanged, and can be replaced', async () => {
    const { service, board, workspaceId } = setup
    const name = 'old\u202eeman'
    await service.write(workspaceId, async (tx) => {
      const record = (await tx.get(keys.board(board.id)))!
      tx.put(keys.board(board.id), { ...record, name })
    })
    const { data } = (await board.send('GET', `/boards/${board.id}`)).body
    expect(data.name).toBe(name)
    const stored = (await service.write(workspaceId, (tx) => tx.get(keys.board(board.id)))) as never
    expect(readRecord('workspace', keys.board(board.id), stored)).toBe(stored)
    expect((await board.send('PATCH', `/boards/${board.id}`, { cover_color: '#ff0000' })).status).toBe(200)
    expect((await board.send('PATCH', `/boards/${board.id}`, { name: 'new' })).status).toBe(200)
  })
})

describe('names elsewhere', async () => {
  const service = await Service.forSuite()
  const person = await service.person(await service.workspace())

  test.each(invisible.map((character) => [character.codePointAt(0)!.toString(16), character]))(
    'U+%s is refused by the commands of operators',
    async (_code, character) => {
      const name = `a${character}b`
      const { id: user, workspaceId: workspace } = person
      for (const [command, input] of [
        ['workspace.create', { name }],
        ['user.add', { name }],
        ['token.create', { workspace, user, scope: 'read', name }],
        ['init', { workspace: name, owner: 'Ada', email: 'ada@example.org' }],
      ] as const)
        await expect(runCommand(service.adminDeps, command, input, noIo), command).rejects.toMatchObject({
          name: 'AdminError',
          code: 'invalid',
          message: expect.stringContaining(REFUSED) as string,
        })
    },
  )

  test('the form of a new token answers 422, with the message', async () => {
    const visitor = await signedIn(service, person)
    for (const character of invisible) {
      const page = await visitor.choose(person.workspaceId, { name: `a${character}b` })
      expect({ status: page.status, text: textOf(page.text) }).toEqual({ status: 422, text: expect.stringContaining(REFUSED) })
    }
  })
})
