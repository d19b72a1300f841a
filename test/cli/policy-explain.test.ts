import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandHost, startProcess, type RunningProcess } from '../support/process.ts'

const DENIED = 11

let host: CommandHost
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-explain-'))
  host = new CommandHost({ LANEKEEPER_STORAGE: `fs:${folder}/data` })
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

const run = (...words: string[]) => host.run(['policy', ...words])
const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await run(...words, '--json')
  return { code, stderr, result: stdout === '' ? undefined : JSON.parse(stdout) }
}

const SEES_BOARD = 'caller.membership=active,board.visibility=workspace,board.caller=none'
const explain = (operation: string, scope: string, facts: string, ...others: string[]) =>
  ['explain', '--operation', operation, '--scope', scope, '--facts', facts, ...others] as const

describe('policy explain of stated facts', () => {
  test('prints both stages, every rule, the response and the smallest changes of a denial', async () => {
    const { code, stdout, stderr } = await run(...explain('boards.delete', 'admin', `${SEES_BOARD},caller.role=member`))
    expect({ code, stderr }).toEqual({ code: DENIED, stderr: 'denied: 403 forbidden\n' })
    expect(stdout).toBe(
      `boards.delete  DELETE /boards/{board_id}
denied: 403 forbidden

scope  delete Board requires kanban:admin (S3: "kanban:admin: includes write; manage board membership and visibility; permanent deletion")
  yes S3.deletion: Deletion cannot be undone. The token has kanban:admin.
permission  delete Board (P7: "Permanently delete a board: board access and either board creator or workspace owner/admin")
  yes board.access: the caller can see the board and its contents
      yes D1.workspace: Every workspace member has access to a workspace board.
      no  D1.private: Only the creator and the explicit members have access to a private board. The roles owner and admin give no access. (board.caller is none, not creator or member)
  no  P7.creator: The creator may delete the board. (board.caller is none, not creator)
  no  P7.role: Workspace owner and admins may delete a board that they can see. Their role does not let them see a private board. (caller.role is member, not owner or admin)
facts  token.scope is kanban:admin, caller.membership is active, caller.role is member, board.visibility is workspace, board.caller is none

required scope  kanban:admin
the smallest change that would allow it
  caller.role owner or admin instead of member
  board.caller creator instead of none
`,
    )
  })

  test('says that no change helps if a fact is fixed', async () => {
    const facts = `${SEES_BOARD},caller.role=owner,comment.author=other`
    const { stdout } = await run(...explain('comments.update', 'admin', facts))
    expect(stdout).toContain('\nno change would allow it: comment.author would have to differ, and cannot be changed\n')
    const { result } = await json(...explain('comments.update', 'admin', facts))
    expect({ changes: result.decision.changes, fixed: result.decision.fixed }).toEqual({ changes: [], fixed: ['comment.author'] })
  })

  test('explains further permissions of an operation whose facts are stated', async () => {
    const facts = `${SEES_BOARD},caller.role=member`
    const membersOf = (result: any) => result.further.map(({ member, answer, fixed }: any) => [member, answer, fixed])
    // The same facts decide about a card that its column completes.
    const completion = ['column_id', 'allowed', []]
    expect(membersOf((await json(...explain('cards.create', 'write', facts))).result)).toEqual([completion])
    const { code, result } = await json(...explain('cards.create', 'write', `${facts},label.board=other`))
    expect({ code, response: result.response }).toEqual({
      code: DENIED,
      response: { status: 404, code: 'not_found', parameter: 'label_id' },
    })
    expect(membersOf(result)).toEqual([['label_ids', 'not_found', ['label.board']], completion])
  })

  test("has facts of an item apart from the operation's", async () => {
    const facts = `${SEES_BOARD},caller.role=member,file.visibility=workspace,file.owner=other,home.board=workspace`
    expect((await run(...explain('cards.set_cover', 'write', facts))).stderr).toMatch(/missing.*\n {2}cover\.state=set\|none /)
    const cover = 'cover.state=set,attachment_id:file.visibility=private'
    const { result } = await json(...explain('cards.set_cover', 'write', `${facts},${cover}`))
    expect({ answer: result.decision.answer, visibility: result.decision.facts['file.visibility'] }).toEqual({
      answer: 'allowed',
      visibility: 'workspace',
    })
    expect(result.further.map(({ answer, facts: own }: any) => [answer, own['file.visibility'], own['file.owner']])).toEqual([
      ['forbidden', 'private', 'other'],
    ])
  })

  test('shows how the answer depends on the facts that are not stated', async () => {
    const words = explain('boards.delete', 'admin', 'caller.membership=active,board.visibility=workspace')
    const missing = await run(...words)
    expect({ code: missing.code, stdout: missing.stdout }).toEqual({ code: 2, stdout: '' })
    expect(missing.stderr).toMatch(
      /^facts: these are missing.*\n {2}caller\.role=owner\|admin\|member .*\n {2}board\.caller=creator\|member\|none /,
    )
    const { code, stdout } = await run(...words, '--any')
    expect({ code, lines: stdout.split('\n').slice(2, -1).toSorted() }).toEqual({
      code: DENIED,
      lines: [
        'allowed if board.caller is creator',
        'allowed if caller.role is owner or admin',
        'forbidden if caller.role is member, and board.caller is member or none',
      ],
    })
    const unknown = await json(...explain('boards.read', 'read', 'board.visibility=workspace', '--any'))
    expect(unknown.result.notes).toEqual(['If the membership has ended, the response is 401 unauthorized, before the tables are asked.'])
    const always = await run(...explain('boards.read', 'read', 'caller.membership=active,board.visibility=workspace', '--any'))
    expect({ code: always.code, stdout: always.stdout }).toEqual({ code: 0, stdout: expect.stringContaining('\nallowed in every case\n') })
  })

  const audit = (...words: string[]) => ['explain', '--operation', 'workspace.audit', ...words] as const

  describe('about an action of the web app alone', () => {
    test('prints the permission stage alone', async () => {
      const { code, stdout, stderr } = await run(...audit('--facts', 'caller.membership=active,caller.role=member'))
      expect({ code, stderr }).toEqual({ code: DENIED, stderr: 'denied: 403 forbidden\n' })
      expect(stdout).toMatch(
        /^workspace\.audit {2}web app\ndenied: 403 forbidden\nIt is done in the web app, .*\n\npermission {2}read AuditTrail/,
      )
      expect(stdout).not.toContain('\nscope')
    })

    test.each([
      ['active', 'owner', { status: 200 }],
      ['active', 'member', { status: 403, code: 'forbidden' }],
      ['ended', 'owner', { status: 404, code: 'not_found' }],
    ])('has the response of its page: %s %s', async (membership, role, response) => {
      const { code, result } = await json(...audit('--facts', `caller.membership=${membership},caller.role=${role}`))
      expect({ code, allowed: result.allowed, response: result.response }).toEqual({
        code: response.status === 200 ? 0 : DENIED,
        allowed: response.status === 200,
        response,
      })
      expect(result.decision.scope).toBeUndefined()
    })
  })

  test.each<[message: string, words: readonly string[]]>([
    ['scope: workspace.audit is done in the web app, where there is no token', audit('--scope', 'admin')],
    ['resource: workspace.audit is done in the web app', audit('--as', 'usr_1', '--workspace', 'wsp_1', '--resource', 'brd_1')],
    ['does not depend on token.scope. It depends on caller.membership, caller.role.', audit('--facts', 'token.scope=none')],
    ['"workspace.audits" is not one. did you mean "workspace.audit"?', audit('--operation', 'workspace.audits')],
    ['scope: state the scope of the token', ['explain', '--operation', 'boards.read', '--any']],
    ['"board.calle" is not a fact. did you mean "board.caller"?', explain('boards.delete', 'admin', 'board.calle=none')],
    ['"owner" is not a value of board.caller: creator, member, none', explain('boards.delete', 'admin', 'board.caller=owner')],
    ['the operation does not depend on label.board', explain('boards.delete', 'admin', 'label.board=this')],
    ['board.caller is stated more than once', explain('boards.delete', 'admin', 'board.caller=none,board.caller=member')],
    ['token.scope is stated by --scope', explain('boards.delete', 'admin', 'token.scope=none')],
    ['--facts is about stated facts', explain('boards.delete', 'admin', 'board.caller=none', '--as', 'usr_1')],
  ])('refuses invalid input: %s', async (message, words) => {
    const { code, stdout, stderr } = await run(...words)
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(message) })
  })
})

describe('policy questions about a stored workspace', () => {
  let service: RunningProcess
  let acme: string
  let board: string
  let creator: string
  let other: string
  /** has the role member */
  let mira: string
  beforeAll(async () => {
    service = startProcess(['--json', '--demo'], { LANEKEEPER_STORAGE: `fs:${folder}/data` })
    const world = JSON.parse(await service.until('\n'))
    acme = world.workspaces[0].id
    mira = world.people.find(({ display_name: name }: any) => name === 'Mira Patel').user_id
    const token = world.tokens.find(({ scopes }: any) => scopes.includes('kanban:admin'))
    creator = token.user_id
    other = world.tokens.find(({ user_id, workspace_id = acme }: any) => user_id !== creator && workspace_id === acme).user_id
    const response = await fetch(`${world.url}/v1/boards`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Explained' }),
    })
    board = ((await response.json()) as any).data.id
  })
  afterAll(() => service.stop())

  test('have the same answers from a running service and from its folder', async () => {
    const stored = ['--workspace', acme]
    const about = (user: string, ...others: string[]) =>
      json('explain', '--as', user, ...stored, '--scope', 'admin', '--operation', 'boards.set_visibility', '--resource', board, ...others)
    const ask = async () => ({
      creator: await about(creator),
      other: await about(other),
      who: await json('who-can', 'boards.set_visibility', board, ...stored),
      what: await json('what-can', creator, board, ...stored, '--scope', 'write'),
      stranger: await json('what-can', 'usr_00000000000000000000', ...stored),
      unknown: await json('who-can', 'boards.paint', board, ...stored),
      list: await json('who-can', 'boards.list', ...stored),
      ofMira: await json('what-can', mira, ...stored),
      auditors: await json('who-can', 'workspace.audit', ...stored),
    })
    const answers = await ask()
    const inWebApp = answers.ofMira.result.operations.filter(({ required_scope: scope }: any) => scope === null)
    expect(inWebApp.map(({ operation, row, answer, code }: any) => [operation, row, answer, code])).toEqual([
      ['workspace.audit', 'X6', 'denied', 'forbidden'],
      ['workspace.tokens', 'X7', 'denied', 'forbidden'],
      ['workspace.revoke_token', 'X7', 'denied', 'forbidden'],
      ['workspace.token_rules', 'X8', 'denied', 'forbidden'],
      ['workspace.members', 'X14', 'denied', 'forbidden'],
      ['workspace.invite', 'X14', 'denied', 'forbidden'],
      ['workspace.change_role', 'X14', 'denied', 'forbidden'],
      ['workspace.end_membership', 'X14', 'denied', 'forbidden'],
      ['workspace.send_link', 'X14', 'denied', 'forbidden'],
    ])
    expect(Object.values(answers).map(({ code }) => code)).toEqual([0, DENIED, 0, 0, 3, 2, 2, 0, 0])
    await service.stop()
    expect(await ask()).toEqual(answers)
  })

  test('are printed for reading', async () => {
    await service.stop()
    const who = await run('who-can', 'boards.set_visibility', board, '--workspace', acme)
    expect(who.stdout).toMatch(
      /^boards.set_visibility requires a token with kanban:admin\nallowed by P5: Only the creator decides .*\n {2}\w+/,
    )
    const what = await run('what-can', creator, board, '--workspace', acme, '--scope', 'write')
    expect(what.stdout).toMatch(/^allowed \(\d+\)\n {2}boards\.read +kanban:read +P2 /)
    expect(what.stdout).toMatch(
      /\nallowed in some cases \(\d+\)\n(.*\n)* {2}comments\.update +kanban:write +P14 +if comment\.author is caller\n/,
    )
  })
})
