import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type Client } from '../../src/client/client.ts'
import { blockOf, SHELL_FUNCTIONS } from '../support/documents.ts'
import { requirePython } from '../support/python.ts'
import { main, startProcess, type RunningProcess } from '../support/process.ts'
import { ownProcess } from '../support/run.ts'

const run = promisify(execFile)
const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const worker = blockOf('README.md', 'claims.work')
const program = blockOf('src/client/README.md', 'lk.cards.move')

let folder: string
let service: RunningProcess
let url: string
let token: string
let lk: Client
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-programs-'))
  service = startProcess(['--json'])
  const start = JSON.parse(await service.until('\n'))
  url = start.url
  token = start.tokens.find((one: any) => one.display_name === 'Mira Patel' && one.scopes.includes('kanban:write')).token
  lk = createClient({ url, token })
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** The messages of the compiler for programs in a project with `strict`. */
async function compile(programs: Readonly<Record<string, string>>): Promise<string> {
  const project = await mkdtemp(join(folder, 'project-'))
  for (const [name, text] of Object.entries(programs)) await writeFile(join(project, name), text)
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  const compilerOptions = {
    strict: true,
    target: 'es2023',
    module: 'nodenext',
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [pathOf('node_modules/@types')],
    paths: { 'lanekeeper/client': [pathOf('src/client/client.ts')] },
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(programs) }))
  return run(process.execPath, [pathOf('node_modules/typescript/bin/tsc'), '-p', project]).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
}

test('the programs of the documents compile under strict', async () => {
  expect(await compile({ 'worker.ts': worker, 'program.ts': program })).toBe('')
  expect(await compile({ 'worker.ts': worker.replace('card.title', 'card.titel') })).toContain("Property 'titel' does not exist")
})

/** Waits until the card with a title is completed. */
async function completed(board_id: string, title: string): Promise<void> {
  for await (const { data } of lk.changes({ board_id }))
    if (data !== null && 'completed_at' in data && data.title === title && data.completed_at !== null) return
}

const python = blockOf('src/http/claims.md', 'import json')
/** A worker of the documents as a program: its command, its text, and its arguments after the board. */
const workers = [
  {
    language: 'TypeScript',
    text: worker,
    lines: 20,
    command: process.execPath,
    file: 'worker.mjs',
    client: new URL('../../dist/client/client.js', import.meta.url).href,
  },
  { language: 'Python', text: python, lines: 30, command: 'python3', file: 'worker.py', client: '' },
]

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
  await writeFile(file, text.replace('lanekeeper/client', program.client).replace('http://127.0.0.1:3000', url))
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
  for (const child of children) child.kill()
  await Promise.all(ended)
  expect(outputs.toSorted()).toEqual([...titles.toSpliced(3, 1), 'Late'].map((title) => `working on ${title}`).toSorted())
})

test('the commands of the README with "lanekeeper api" work', async () => {
  const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main, LANEKEEPER_URL: url, LANEKEEPER_TOKEN: token }
  const script = `${SHELL_FUNCTIONS}${blockOf('README.md', 'api boards.list')}`
  const { stdout } = await run('bash', ['-euc', script], { env: env as unknown as NodeJS.ProcessEnv })
  expect(stdout.trimEnd().split('\n')).toEqual(expect.arrayContaining(['Product roadmap', 'Spring']))
})
