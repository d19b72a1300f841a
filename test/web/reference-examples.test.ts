import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { expect, test } from 'vitest'
import { operations as clientRows } from '../../src/client/operations.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { operations } from '../../src/resources/table.ts'
import { startForSuite } from '../support/board-team.ts'
import { compile } from '../support/compile.ts'
import { cheapPasswords } from '../support/service.ts'
import { decoded } from '../support/visitor.ts'

const FILE = 'Bring the keys.'

const service = await startForSuite({ proxies: 0 })
const fetch = (path: string) => service.app.fetch(new Request(`http://localhost${path}`))
const demo = await seedDemo({ ...service.deps, passwords: cheapPasswords }, (request) => service.app.fetch(request), readWorld())
const { token } = demo.tokens.find(({ display_name, scopes }) => display_name === 'Mira Patel' && scopes.includes('kanban:admin'))!
/** the page of each operation, by its id */
const pages = new Map<string, string>([['', await (await fetch('/docs')).text()]])
for (const { id } of operations) pages.set(id, await (await fetch(`/docs/${id}`)).text())

/** The text of a block of code, as a person copies it. */
function codeOf(id: string, block: string): string {
  const [, code] = new RegExp(`<code id="${block}">(.*?)</code>`, 's').exec(pages.get(id)!)!
  return decoded(code!.replace(/<[^>]*>/g, ''))
}

/** The arguments of each command of curl in a text, as a shell makes them. Each text has a list of its commands. */
function parseCommands(texts: readonly string[]): string[][][] {
  const script = [String.raw`curl() { printf '%s\0' "$@"; printf '\001'; }`, ...texts.map((text) => `${text}\nprintf '\\002'`)].join('\n')
  const output = execFileSync('sh', ['-eu', '-c', script], { env: { TOKEN: token }, encoding: 'utf8' })
  const parts = (text: string, separator: string) => text.split(separator).slice(0, -1)
  return parts(output, '\u0002').map((commands) => parts(commands, '\u0001').map((args) => parts(args, '\0')))
}

/** The request that curl would send. @throws {Error} for an option that no example should have */
function toRequest(args: string[]): { url: URL; init: RequestInit } {
  const one = (short: string) => ({ type: 'string', short }) as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      method: one('X'),
      headers: { ...one('H'), multiple: true },
      data: one('d'),
      form: one('F'),
      output: one('o'),
      unbuffered: { type: 'boolean', short: 'N' },
    },
  })
  const { method = 'GET', headers = [], data, form } = values
  const [url, ...rest] = positionals
  expect(rest).toEqual([])
  const body = form === undefined ? data : formOf(form)
  const named = headers.map((header) => header.split(/: (.*)/).slice(0, 2) as [string, string])
  return { url: new URL(url!), init: { method, headers: named, ...(body !== undefined && { body }) } }
}

function formOf(text: string): FormData {
  const [, name, file] = /^(\w+)=@([^;]+)$/.exec(text)!
  const form = new FormData()
  form.append(name!, new File([FILE], file!))
  return form
}

/** An id of each kind that is in the demo data, by its prefix. */
async function demoIds(): Promise<Record<string, string>> {
  const list = async (path: string) => {
    const { body } = await service.send(token, 'GET', path)
    return body.data as { id: string; name?: string; title?: string; file_id: string; user_id: string; display_name?: string }[]
  }
  const board = (await list('/boards')).find(({ name }) => name === 'Website relaunch')!.id
  const card = (await list(`/boards/${board}/cards?limit=100`)).find(({ title }) => title === 'Landing page')!.id
  const [attachment, text] = await list(`/cards/${card}/attachments`)
  const comment = (await service.send(token, 'POST', `/cards/${card}/comments`, { body: 'The wireframe is ready.' })).body.data.id as string
  return {
    brd: board,
    crd: card,
    col: (await list(`/boards/${board}/columns`))[2]!.id,
    lbl: (await list(`/boards/${board}/labels`))[1]!.id,
    sub: (await list(`/cards/${card}/subtasks`))[2]!.id,
    cmt: comment,
    att: attachment!.id,
    fil: text!.file_id,
    usr: (await list('/members')).find(({ display_name }) => display_name === 'Nora Lindqvist')!.user_id,
  }
}

/** What the service answers when the form of a request is wrong, not when the demo data is in another state. */
const WRONG_FORM = new Set([400, 401, 405, 413, 415, 422])

/** Whether an operation has a dry run: a write. */
function takesDryRun(id: string): boolean {
  return (clientRows[id as keyof typeof clientRows].query as readonly string[]).includes('dry_run')
}

test('every command for curl is accepted by the service', async () => {
  const ids = await demoIds()
  const texts = operations.map(({ id }) => codeOf(id, 'example-curl'))
  const commands = parseCommands(texts.map((text) => text.replace(/\b([a-z]{3})_[0-9a-z]{20}\b/g, (id, kind: string) => ids[kind] ?? id)))
  const answers: Record<string, number[]> = {}
  for (const [i, { id, method, path }] of operations.entries()) {
    answers[id] = []
    expect([id, commands[i]!.length > 0]).toEqual([id, true])
    for (const command of commands[i]!) {
      const { url, init } = toRequest(command)
      const pattern = new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[a-z]{3}_[0-9a-z]{20}')}$`)
      expect({ id, method: init.method, pathname: url.pathname }).toEqual({ id, method, pathname: expect.stringMatching(pattern) })
      // Nothing is changed: each command finds the same data.
      if (takesDryRun(id)) url.searchParams.set('dry_run', 'true')
      const response = await service.app.fetch(new Request(url, init))
      if (!id.endsWith('.events')) await response.arrayBuffer()
      else await response.body!.cancel()
      answers[id]!.push(response.status)
    }
  }
  expect(Object.entries(answers).filter(([, statuses]) => statuses.some((status) => WRONG_FORM.has(status)))).toEqual([])
  // Of one kind each. The file of the example is attached already.
  expect(answers).toMatchObject({
    'boards.changes': [200],
    'boards.batch': [200],
    'boards.events': [200],
    'cards.search': [200],
    'cards.create': [201],
    'cards.move': [200],
    'boards.delete': [200],
    'attachments.attach': [409],
    'attachments.upload': [201],
    'attachments.download': [200],
  })
})

test('every call of the client compiles under strict', async () => {
  const imports: string[] = []
  const functions = [...pages.keys()].map((id, i) => {
    const code = codeOf(id, id === '' ? 'setup-client' : 'example-client')
    if (id !== '') expect(code).toContain(`lk.${id}(`)
    imports.push(...[...code.matchAll(/^import .*$/gm)].map(([line]) => line))
    const parameter = id === '' ? '' : 'lk: Client'
    return `// ${id}\nexport async function example${i}(${parameter}) {\n${code.replace(/^import .*$/gm, '')}\n}`
  })
  const program = [`import type { Client } from 'lanekeeper-client'`, ...new Set(imports), ...functions].join('\n')
  expect(await compile(program)).toBe('')
})
