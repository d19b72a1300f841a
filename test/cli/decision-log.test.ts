import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { isChain } from '../support/decision-log.ts'
import { blockOf } from '../support/documents.ts'
import { CommandHost, runScript, startProcess, type RunningProcess } from '../support/process.ts'

const policies = fileURLToPath(new URL('../../policies', import.meta.url))
const commands = new CommandHost({})
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-log-'))
})

const policy = (...args: string[]) => commands.run(['policy', ...args])
const recordsIn = (text: string): any[] => text.split('\n').slice(0, -1).map((line) => JSON.parse(line)) // prettier-ignore

/** Sends requests from several clients until the service is gone. @returns the ids of those that were answered */
async function sendUntilGone({ url, tokens }: any, onAnswer: (count: number) => void): Promise<string[]> {
  const { token } = tokens.find(({ scopes, state }: any) => state === 'active' && scopes.includes('kanban:admin'))
  const answered: string[] = []
  const client = async (number: number) => {
    for (let i = 0; ; i++) {
      const write = { method: 'POST', body: JSON.stringify({ name: `${number} ${i}` }) }
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      try {
        const response = await fetch(`${url}/v1/boards`, { headers, ...(i % 2 === 0 ? write : { method: 'GET' }) })
        if (response.status < 300) answered.push(response.headers.get('x-request-id')!)
      } catch {
        return
      }
      onAnswer(answered.length)
    }
  }
  await Promise.all([1, 2, 3, 4].map(client))
  return answered
}

test('the commands of the page of the decision log work', async () => {
  const [start, ...reads] = blockOf('src/decision-log/README.md', 'policy verify-log').trimEnd().split('\n')
  const work = await mkdtemp(join(folder, 'page-'))
  const file = join(work, 'decisions.jsonl')
  const service = startProcess([...start!.split(' ').slice(2), '--json'].map((word) => word.replace('decisions.jsonl', file)))
  const { url, tokens } = JSON.parse(await service.until('\n'))
  expect((await fetch(`${url}/v1/account`, { headers: { authorization: `Bearer ${tokens[0].token}` } })).status).toBe(200)
  await service.stop()
  await cp(policies, join(work, 'new'), { recursive: true })
  const { head } = JSON.parse((await policy('verify-log', file, '--json')).stdout)
  // No file was rotated.
  const { stdout } = await runScript(`shopt -s nullglob\n${reads.join('\n').replace('5f0c…', head)}`, work)
  expect(stdout).toContain(head)
})

describe('a service with a decision log', () => {
  let file: string
  const start = (...more: string[]): RunningProcess => startProcess(['--json', '--demo', '--decision-log', file, ...more])

  test('that is killed under load has the record of every request that it has answered, and goes on with the chain', async () => {
    file = join(folder, 'killed.jsonl')
    const storage = ['--storage', `fs:${join(folder, 'data')}`]
    const killed = start(...storage, '--decision-log-sync', 'always')
    const answered = await sendUntilGone(JSON.parse(await killed.until('\n')), (done) => done >= 60 && killed.child.kill('SIGKILL'))
    const next = start(...storage)
    await next.until('\n')
    await next.stop()
    const text = await readFile(file, 'utf8')
    const recorded = new Set([...text.matchAll(/"request_id":"([^"]+)".*"hash":"[0-9a-f]{64}"\}\n/g)].map(([, id]) => id))
    expect(answered.filter((id) => !recorded.has(id))).toEqual([])
    expect(answered.length).toBeGreaterThanOrEqual(60)
    const { code, stdout } = await policy('verify-log', file, '--json')
    const summary = JSON.parse(stdout)
    expect({ code, summary }).toMatchObject({ code: 0, summary: { findings: 0, begins_after: null, open_end: false } })
    expect((await policy('verify-log', file, '--anchor', summary.head)).code).toBe(0)
    expect((await policy('replay', file)).code).toBe(0)
  })

  test('on stdout has nothing else there, and its head is in the last line', async () => {
    file = 'stdout'
    const service = start()
    await expect.poll(() => service.stderr()).toContain('"url"')
    const { url } = JSON.parse(/^\{"url".*$/m.exec(service.stderr())![0])
    await fetch(`${url}/v1/boards`)
    await service.stop()
    expect(isChain(service.stdout())).toBe(true)
    expect(recordsIn(service.stdout()).at(-1)).toMatchObject({ kind: 'refusal', code: 'unauthorized' })
  })

  // The path of a socket beside the second file is longer than the operating system takes.
  test.each([
    ['a file', 'shared.jsonl'],
    ...(process.platform === 'linux' ? [['a file with a path of more than 200 bytes', `${'x'.repeat(200)}.jsonl`]] : []),
  ])('does not start on %s that another process writes to, until that one has ended', async (_what, name) => {
    file = join(folder, name!)
    const first = start()
    await first.until('\n')
    const second = start()
    await expect(second.until('\n')).rejects.toThrow(`decision-log: ${file} is in use by process ${first.child.pid}`)
    expect({ second: await second.stop(), first: await first.stop() }).toEqual({ second: 4, first: 0 })
    const third = start()
    await third.until('\n')
    await third.stop()
    expect((await policy('verify-log', file)).code).toBe(0)
  })
})

describe('the commands for decision logs', () => {
  let file: string
  let text: string
  beforeAll(async () => {
    file = join(folder, 'decisions.jsonl')
    const service = startProcess(['--json', '--decision-log', file])
    const { url, tokens } = JSON.parse(await service.until('\n'))
    for (const { token } of tokens) await fetch(`${url}/v1/boards`, { headers: { authorization: `Bearer ${token}` } })
    await service.stop()
    text = await readFile(file, 'utf8')
  })
  const altered = async (name: string, change: (lines: string[]) => string[]) => {
    const path = join(folder, name)
    await writeFile(path, change(text.split('\n')).join('\n'))
    return path
  }

  test('verify-log names the line and byte of each finding, and has its own exit code', async () => {
    const path = await altered('altered.jsonl', (lines) => lines.with(3, lines[3]!.replace('"status":2', '"status":4')))
    const byte = Buffer.byteLength(text.split('\n').slice(0, 3).join('\n')) + 1
    const { code, stdout, stderr } = await policy('verify-log', path)
    expect({ code, stdout, stderr }).toEqual({
      code: 8,
      stdout: expect.stringContaining(`altered ${path}:4, byte ${byte}: this line has not the hash of its content\n`),
      stderr: 'the log is not as it was written: 1 finding\n',
    })
    const json = await policy('verify-log', path, '--json')
    expect(json.stdout.split('\n').slice(0, 2).map((line) => JSON.parse(line))).toMatchObject([{ kind: 'altered', file: path, line: 4, byte }, { findings: 1 }]) // prettier-ignore
  })

  test('replay prints what another policy decides differently, and has its own exit code', async () => {
    expect(await policy('replay', file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+ decisions of \d+ records: 0 are decided differently, 0 for other reasons\n$/),
    })
    const other = join(folder, 'policies')
    await cp(policies, other, { recursive: true })
    const permissions = await readFile(join(other, 'permissions.yaml'), 'utf8')
    await writeFile(
      join(other, 'permissions.yaml'),
      permissions.replace('caller.membership: active, board.visibility: workspace', 'caller.membership: active, board.visibility: private'),
    )
    const { code, stdout } = await policy('replay', file, '--policies', other, '--json')
    const lines = stdout.trim().split('\n').map((line) => JSON.parse(line)) // prettier-ignore
    expect({ code, first: lines[0], last: lines.at(-1) }).toMatchObject({
      code: 9,
      first: { kind: 'narrowed', stage: 'permission', was: 'allowed', now: 'not_found', example: { file, facts: expect.any(Object) } },
      last: { changed: expect.any(Number) },
    })
    expect(lines.at(-1).changed).toBeGreaterThan(0)
  })

  test.each([
    [['verify-log', policies], 'policies is a folder; name the files of the log\n'],
    [['verify-log', 'none.jsonl', '--from', 'x'], 'from: "x" is not a hash of 64 hexadecimal digits'],
    [['replay', policies + '/README.md'], 'README.md:1 is no line of a decision log'],
  ])('%j is refused', async (args, message) => {
    expect(await policy(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
  })
})
