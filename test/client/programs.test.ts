import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { installClient } from '../support/client-package.ts'
import { blockOf } from '../support/documents.ts'
import { requirePython } from '../support/python.ts'
import { CommandHost, startService, type StartedService } from '../support/process.ts'
import { newFolder, ownProcess } from '../support/run.ts'

const run = promisify(execFile)
const worker = blockOf('src/client/README.md', 'claims.work')

const folder = newFolder()
let service: StartedService
let url: string
let token: string
let admin: string
let lk: Client
beforeAll(async () => {
  service = await startService()
  installClient(folder)
  url = service.url
  const tokenOf = (scope: string) =>
    service.world.tokens.find((one: any) => one.display_name === 'Mira Patel' && one.scopes.includes(scope)).token as string
  token = tokenOf('kanban:write')
  admin = tokenOf('kanban:admin')
  lk = createClient({ url, token })
})
afterAll(() => service.stop())

/** Waits until the card with a title is completed. */
async function completed(board_id: string, title: string): Promise<void> {
  for await (const { data } of lk.changes({ board_id }))
    if (data !== null && 'completed_at' in data && data.title === title && data.completed_at !== null) return
}

const workOf = async (card_id: string) => (await lk.cards.read({ card_id, include: ['work'] })).data.work!

const host = new CommandHost()
const python = blockOf('src/http/claims.md', 'import json')
/** A worker of the documents as a program: its command, its text, and its arguments after the board. */
const workers = [
  {
    language: 'TypeScript',
    text: worker,
    lines: 20,
    command: process.execPath,
    file: 'worker.mjs',
    broken: `if (card.title === 'Broken') throw new TypeError('No seed.')`,
  },
  {
    language: 'Python',
    text: python,
    lines: 40,
    command: 'python3',
    file: 'worker.py',
    broken: `if card["title"] == "Broken": raise ValueError("No seed.")`,
  },
]
/** The place in a worker's text where its work belongs: before the line that logs it. */
const WORK = /^( *)(?=(?:console\.log|print)\(["`]working on)/m

test.each(workers)('two workers in $language complete the ready cards of a board, each card once', async ({ text, lines, ...program }) => {
  expect(text.split('\n').filter((line) => line.trim() !== '').length).toBeLessThanOrEqual(lines)
  if (program.command === 'python3') requirePython()
  const board_id = (await lk.boards.create({ name: 'Work' })).data.id
  const column_id = (await lk.columns.create({ board_id, name: 'Ready' })).data.id
  const titles = Array.from({ length: 8 }, (_, i) => `Card ${i}`)
  const ids: string[] = []
  for (const title of titles) ids.push((await lk.cards.create({ board_id, column_id, title })).data.id)
  const held = ids[3]!
  await lk.claims.take({ card_id: held, ttl: 3600 })
  const file = join(folder, program.file)
  expect(text).toMatch(WORK)
  const failing = text.replace(WORK, `$1${program.broken}\n$1`)
  await writeFile(file, failing.replace('http://127.0.0.1:3000', url))
  const outputs: string[] = []
  const ended: Promise<unknown>[] = []
  const env = { PATH: process.env['PATH'], LANEKEEPER_TOKEN: token } as unknown as NodeJS.ProcessEnv
  const children = [1, 2].map(() => {
    const child = ownProcess(execFile(program.command, [file, board_id, column_id], { env }))
    child.stdout!.on('data', (lines: string) => outputs.push(...lines.trimEnd().split('\n')))
    child.stderr!.on('data', (lines: string) => outputs.push(lines))
    ended.push(new Promise((resolve) => child.on('close', resolve)))
    return child
  })
  await completed(board_id, 'Card 7')
  // Both workers wait for a card now, or soon.
  await lk.cards.create({ board_id, column_id, title: 'Late' })
  await completed(board_id, 'Late')
  await expect.poll(async () => (await lk.cards.list({ board_id, completed: false })).data.map(({ id }) => id)).toEqual([held])
  // One card fails, and another one waits for an answer.
  const broken = (await lk.cards.create({ board_id, column_id, title: 'Broken' })).data.id
  const asking = (await lk.cards.create({ board_id, column_id, title: 'Peas?' })).data.id
  await expect.poll(async () => (await workOf(broken)).state).toBe('retrying')
  expect(await workOf(broken)).toMatchObject({ attempts: 1, reason: 'No seed.' })
  await expect.poll(async () => (await workOf(asking)).state).toBe('waiting')
  expect((await lk.comments.list({ card_id: asking })).data).toMatchObject([{ kind: 'question', body: 'Yes or no?' }])
  await lk.cards.answer({ card_id: asking, body: 'Yes.' })
  await completed(board_id, 'Peas?')
  expect(outputs.filter((line) => line.includes('Broken'))).toEqual([])
  for (const child of children) child.kill()
  await Promise.all(ended)
  expect(outputs.toSorted()).toEqual([...titles.toSpliced(3, 1), 'Late', 'Peas?'].map((title) => `working on ${title}`).toSorted())
})

test('the program of the page of the client works', async () => {
  const program = join(folder, 'program.mjs')
  const block = blockOf('src/client/README.md', 'lk.cards.move')
  await writeFile(program, block.replace('http://127.0.0.1:3000', url))
  const { stdout } = await run(process.execPath, [program], { env: { LANEKEEPER_TOKEN: token } })
  expect(stdout).toBe('Sow peas\nkanban:admin\n')
})

test('the batch of the page of the client works', async () => {
  const { id } = (await lk.boards.create({ name: 'Garden' })).data
  const block = blockOf('src/client/README.md', 'lk.boards.batch').replaceAll(/: BatchOperation(?:\[\])?|, type BatchOperation/g, '')
  const program = join(folder, 'batch.mjs')
  await writeFile(program, block.replace('http://127.0.0.1:3000', url).replace('brd_…', id))
  const { stdout } = await run(process.execPath, [program], { env: { LANEKEEPER_TOKEN: token } })
  expect(stdout.replaceAll(/crd_\w+/g, 'crd')).toBe('crd Sow\ncrd Water\ncrd Harvest\n')
})

test('the commands with "lanekeeper api" of the page of the command line work', async () => {
  const variables: Record<string, string> = {}
  let last = ''
  for (const line of blockOf('src/cli/README.md', 'api boards.create').trimEnd().split('\n')) {
    const [, name, command] = /^(?:(\w+)=\$\()?npx lanekeeper (.*?)\)?$/.exec(line)!
    const args = [...command!.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, bare]) => quoted ?? bare!.replace(/^\$(\w+)$/, (_all, variable: string) => variables[variable]!),
    )
    const { code, stdout, stderr } = await host.run(args, { LANEKEEPER_URL: url, LANEKEEPER_TOKEN: admin })
    expect({ line, code, stderr: stderr.replace(/^etag: .*\n$/, '') }).toEqual({ line, code: 0, stderr: '' })
    last = stdout.trimEnd()
    if (name !== undefined) variables[name] = last
  }
  expect(last).toBe('Sow peas')
})
