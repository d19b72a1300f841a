import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blockOf } from '../support/documents.ts'
import { CommandHost, startProcess, startService, type RunningProcess, type StartedService } from '../support/process.ts'

const run = promisify(execFile)
const get = (url: string, token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } })

describe('lanekeeper serve', () => {
  // One service that prints its banner, and one that prints JSON. The commands of the documents add boards to the second one.
  let plain: RunningProcess
  let service: StartedService
  let banner: string
  let world: any
  const host = new CommandHost({})
  beforeAll(async () => {
    plain = startProcess(['serve'])
    service = await startService()
    banner = await plain.until('curl ')
    world = service.world
  })
  afterAll(async () => {
    await Promise.all([plain.stop(), service.stop()])
  })

  test('the banner contains the URL, the demo users and a command that works', async () => {
    expect(banner).toMatch(/Lanekeeper is listening at http:\/\/127\.0\.0\.1:\d+\/v1/)
    expect(banner).toMatch(/policy proved: \d+ cells of \d+ permissions in \d+ ms/)
    expect(banner).toMatch(/Acme +Olivia Stone +owner +kanban:read +lk_pat_\w+/)
    const { stdout } = await run('sh', ['-c', /^ *(curl .*)$/m.exec(banner)![1]!])
    expect(JSON.parse(stdout)).toMatchObject({
      data: { display_name: 'Olivia Stone', role: 'owner', workspace: { name: 'Acme' }, scopes: ['kanban:read'] },
    })
    expect(await plain.stop()).toBe(0)
  })

  test('every start in memory issues new tokens', () => {
    for (const { token } of world.tokens) expect(banner).not.toContain(token)
  })

  /** Runs commands of the documents in a shell of the repository, with a `kanban:write` token of Olivia. @returns stdout */
  const shell = async (block: string) => {
    const env = { ...process.env, TOKEN: world.tokens.find(({ scopes }: any) => scopes[0] === 'kanban:write').token }
    return (await run('bash', ['-euc', block.replaceAll('http://127.0.0.1:3000', world.url)], { env })).stdout
  }

  test('the first call of the README and the refusal after it have the documented answers', async () => {
    /** The JSON that the README shows, as a pattern: an ellipsis stands for what differs from run to run. */
    const shown = (json: string) => {
      const escaped = json.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
      return new RegExp(`^${escaped.replaceAll('\\{…\\}', '\\{.*\\}').replaceAll('…', '[^"]*')}$`)
    }
    expect(await shell(blockOf('README.md', '/v1/account'))).toMatch(shown(blockOf('README.md', '"display_name":"Olivia Stone"')))
    expect(await shell(blockOf('README.md', '-X DELETE'))).toMatch(shown(blockOf('README.md', '"code":"insufficient_scope"')))
  })

  test('the walk of the API guide works, and the searches, the batch and the changes that follow it', async () => {
    const [walk, search, batch, changes] = [
      blockOf('src/http/README.md', 'Peas first.'),
      blockOf('src/http/README.md', '/access/search/action'),
      blockOf('src/http/changes.md', 'columns.create'),
      blockOf('src/http/changes.md', 'changes_cursor'),
    ]
    const output = await shell([walk, search, batch, changes].join('\n'))
    expect(output).toContain('"counts":{"subtasks":0,"comments":1,"attachments":1}')
    expect(output).toContain('{"name":"cards.create","properties":{"requires":["column_id"]}}')
    expect(output).toMatch(/"results":\[\{"type":"board","id":"brd_\w+"\}/)
    expect(output).toMatch(/"operation":"cards.create","data":\{"id":"crd_\w+",.*"title":"Sow"/)
    expect(output).toMatch(/"seq":\d+,.*"kind":"card","id":"crd_\w+","action":"updated".*"title":"Sow peas"/)
  })

  test('the questions of the page about the decision point have answers', async () => {
    const mira = world.tokens.find(({ display_name }: any) => display_name === 'Mira Patel').user_id
    const board = world.boards.find(({ name }: any) => name === 'Website relaunch').id
    const output = await shell(`PERSON=${mira} BOARD=${board}\n${blockOf('src/http/decision-point.md', 'point=')}`)
    expect(output).toMatch(
      /^\{"decision":true,"context":\{.*"row":"P4"\}\}\{"page":\{"next_token":"","count":3\},"results":\[\{"type":"user"/,
    )
  })

  test('--json prints the demo data as one line, and each token has the access that it states', async () => {
    expect(service.stdout().trimEnd().split('\n')).toHaveLength(1)
    expect(world.workspaces.map(({ name }: any) => name)).toEqual(['Acme', 'Globex'])
    expect(world.tokens).toHaveLength(24)
    expect(Object.keys(world.tokens[0])).toEqual(['user_id', 'display_name', 'role', 'workspace_id', 'scopes', 'state', 'token'])
    for (const token of world.tokens) {
      const response = await get(`${world.url}/v1/account`, token.token)
      expect([token.display_name, response.status]).toEqual([token.display_name, token.state === 'left' ? 401 : 200])
      if (token.state === 'active')
        expect(((await response.json()) as any).data).toMatchObject({
          user_id: token.user_id,
          role: token.role,
          workspace: { id: token.workspace_id },
        })
    }
    await service.stop('SIGINT')
    for (const { token } of world.tokens) expect(service.stderr()).not.toContain(token)
    for (const line of service.stderr().trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
  })

  test.each([
    [['--nonsense'], {}, /--nonsense/],
    [[], { LANEKEEPER_LOG: 'loud' }, /"loud"/],
  ])('an invalid setting is reported in one line: %j %j', async (args, env, message) => {
    const { code, stderr } = await host.run(['serve', ...args], { PORT: '0', ...env })
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
