import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { DAY } from '../../src/model/time.ts'
import type { Role } from '../../src/model/workspace.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { memory } from '../support/memory.ts'
import { handWrittenCells, handWrittenWebActions } from '../support/hand-written-decisions.ts'
import type { Person } from '../support/service.ts'
import { PASSWORD, signedIn, Visitor } from '../support/visitor.ts'

const { service, recorder } = await startWithAudit(memory)
afterAll(() => service.stop())
let workspaceId: string
let owner: Person
let member: Person
beforeEach(async () => {
  workspaceId = await service.workspace()
  owner = await service.person(workspaceId, 'owner', 'Olga Owner')
  member = await service.person(workspaceId, 'member', 'Max Member')
})
afterEach(() => recorder.flush())

const PATH = '/settings/workspace'
const tokenOf = (person: Person, scopes = ['kanban:read']) =>
  service.write(workspaceId, (tx) => issueToken(tx, { userId: person.id, name: 'Robot', scopes }, service.deps))
const storedToken = ({ hash }: { hash: string }) => service.write(workspaceId, (tx) => tx.get(keys.token(hash)))
const rules = () => service.write(workspaceId, (tx) => tx.get(keys.tokenRules()))
const entriesAfter = (send: () => Promise<unknown>, partition = workspaceId) => entriesOf(service, recorder, partition, send)

/** Does what each action of the policy is about. @returns the status, and whether something was changed */
const actions: Record<string, (visitor: Visitor, formToken: string) => Promise<{ status: number; isDone: boolean }>> = {
  'workspace.audit': async (visitor) => {
    const { status, text } = await visitor.request(`${PATH}/${workspaceId}/audit`)
    return { status, isDone: text.includes('Audit trail of Acme') }
  },
  'workspace.tokens': async (visitor) => {
    const { status, text } = await visitor.request(`${PATH}/${workspaceId}`)
    return { status, isDone: text.includes('Max Member') }
  },
  'workspace.revoke_token': async (visitor, form_token) => {
    const { token } = await tokenOf(member)
    const { status } = await visitor.post(`${PATH}/${workspaceId}/tokens/${token.id}/revoke`, { form_token })
    return { status, isDone: (await storedToken(token))!.revoked_at !== null }
  },
  'workspace.token_rules': async (visitor, form_token) => {
    const { status } = await visitor.post(`${PATH}/${workspaceId}`, { form_token, max_days: '7' })
    return { status, isDone: (await rules()) !== undefined }
  },
}

/** Row X14 is about members: test/web/members.test.ts. */
const webActions = handWrittenWebActions.filter(({ row }) => row !== 'X14')

describe('the pages of a workspace', () => {
  const cells = webActions.flatMap(({ id, row, decision }) =>
    handWrittenCells({ decision }).map(
      ({ facts, response }) => [id, facts['caller.role']!, facts['caller.membership']!, response, row] as const,
    ),
  )

  test('every action of the policy is tested', () => {
    expect(Object.keys(actions).toSorted()).toEqual(webActions.map(({ id }) => id).toSorted())
  })

  test.each(cells)('%s of an %s whose membership is %s is decided as the policy says: %s', async (id, role, membership, response, row) => {
    const person = await service.person(workspaceId, role as Role)
    const visitor = await signedIn(service, person)
    const { formToken } = visitor
    if (membership === 'ended') await service.leaveOnly(workspaceId, person.id)
    let result!: Awaited<ReturnType<(typeof actions)[string]>>
    const entries = await entriesAfter(async () => (result = await actions[id]!(visitor, formToken)))
    const isAllowed = response === 'ok'
    // To someone who has left, the workspace does not exist.
    const status = isAllowed ? [200, 303] : [response === 401 ? 404 : response]
    expect(status).toContain(result.status)
    expect(result.isDone).toBe(isAllowed)
    const denied = { operation: `web.${id}`, outcome: 'denied', user_id: person.id, rows: [row], token_id: null }
    if (response === 403) expect(entries).toMatchObject([denied])
    else expect(entries.filter(({ outcome }) => outcome === 'denied')).toEqual([])
  })

  test('do not exist for another workspace, and for an invalid id', async () => {
    const visitor = await signedIn(service, owner)
    const other = await service.workspace()
    for (const id of [other, 'wsp_00000000000000000000', 'x', 'global'])
      for (const path of ['', '/audit', `/tokens/tok_00000000000000000000/revoke`])
        expect([id, path, (await visitor.request(`${PATH}/${id}${path}`)).status]).toEqual([id, path, 404])
    expect((await visitor.request(`${PATH}/${workspaceId}/tokens/tok_00000000000000000000/revoke`)).status).toBe(404)
  })
})

describe('the tokens of members', () => {
  test('are listed with their use, and never as plaintext or hash', async () => {
    const { token, plaintext } = await tokenOf(member)
    await service.send(plaintext, 'GET', '/account', undefined, { 'user-agent': 'robot/2', 'x-forwarded-for': '192.0.2.9' })
    await service.send(plaintext, 'GET', '/boards/brd_00000000000000000000')
    await service.app.services.usage.flush()
    const visitor = await signedIn(service, owner)
    const page = await visitor.open(`${PATH}/${workspaceId}`)
    for (const text of ['Max Member', 'Robot', token.id, 'active', '2 calls, 1 refused']) expect(page.shown + page.text).toContain(text)
    for (const secret of [plaintext, token.hash]) expect(page.text).not.toContain(secret)
  })

  test('that an owner revokes stop working at once, and their user sees by whom and when', async () => {
    const { token, plaintext } = await tokenOf(member)
    const visitor = await signedIn(service, owner)
    service.now += DAY
    const entries = await entriesAfter(async () => {
      await visitor.signIn(`${owner.id}@example.org`)
      await visitor.open(`${PATH}/${workspaceId}/tokens/${token.id}/revoke`)
      expect(visitor.page!.shown).toContain('Revoke Robot of Max Member?')
      await visitor.submit({}, PATH)
    })
    expect(visitor.page!.shown).toContain('The token is revoked.')
    expect(entries).toMatchObject([
      { operation: 'web.workspace.revoke_token', ids: [token.id], user_id: owner.id, subject_id: member.id, rows: ['X7'], outcome: 'done' },
    ])
    expect((await service.send(plaintext, 'GET', '/account')).status).toBe(401)
    const holder = await signedIn(service, member)
    const list = (await holder.open('/settings/tokens')).shown
    expect(list).toMatch(/just now, revoked by Olga Owner/)
    expect(list).toContain('Olga Owner, an owner or admin of the workspace, revoked your token "Robot" on 2026-11-21.')
    const activity = (await holder.open('/settings/activity')).shown
    expect(activity).toContain('web.workspace.revoke_token')
    // The addresses of others are theirs.
    expect(activity).not.toContain(visitor.address)
    service.now -= DAY
  })

  test('that a person revokes themselves are not said to be revoked by another', async () => {
    const { token } = await tokenOf(owner)
    const visitor = await signedIn(service, owner)
    await visitor.open(`${PATH}/${workspaceId}/tokens/${token.id}/revoke`)
    await visitor.submit({}, PATH)
    const stored = await storedToken(token)
    expect(stored!.revoked_at).not.toBeNull()
    expect(stored!.revoked_by).toBeUndefined()
  })
})

describe('the rules for new tokens', () => {
  const setRules = async (fields: Record<string, string>) => {
    const visitor = await signedIn(service, owner)
    await visitor.open(`${PATH}/${workspaceId}`)
    return visitor.submit(fields, `${PATH}/${workspaceId}`)
  }

  test('limit the lifetime of new and of rotated tokens, on each page', async () => {
    expect((await setRules({ max_days: '7', admin: 'on' })).shown).toContain('The rules are changed.')
    expect(await rules()).toMatchObject({ max_days: 7, admin: true, updated_by: owner.id })
    const visitor = await signedIn(service, member)
    const page = await visitor.choose(workspaceId, { days: '8' })
    expect({ status: page.status, shown: page.shown }).toEqual({
      status: 422,
      shown: expect.stringContaining('this workspace allows at most 7 days'),
    })
    expect(await visitor.create(workspaceId, { days: '7' })).toMatch(/^lk_pat_/)
    const [id] = await visitor.tokenIds()
    await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
    const refused = await visitor.submit({ days: '8', password: PASSWORD }, '/settings/tokens')
    expect({ status: refused.status, shown: refused.shown }).toEqual({
      status: 422,
      shown: expect.stringContaining('this workspace allows at most 7 days'),
    })
  })

  test('forbid kanban:admin, also for a choice that waits for its confirmation, and for a rotation', async () => {
    const visitor = await signedIn(service, member)
    const { token: old, plaintext } = await tokenOf(member, ['kanban:admin'])
    await visitor.choose(workspaceId, { scope: 'kanban:admin' })
    await setRules({ max_days: '90' })
    expect(await rules()).toMatchObject({ max_days: 90, admin: false })
    const confirmed = await visitor.submit({ password: PASSWORD }, '/settings/confirm')
    expect({ status: confirmed.status, shown: confirmed.shown }).toEqual({
      status: 409,
      shown: expect.stringContaining('do not allow new tokens with kanban:admin'),
    })
    const form = await visitor.open(`/settings/tokens/new?workspace=${workspaceId}`)
    expect(form.text).not.toContain('value="kanban:admin"')
    const forged = await visitor.submit({ name: 'x', scope: 'kanban:admin', days: '1' }, '/settings/tokens/new')
    expect(forged.status).toBe(422)
    await visitor.open(`/settings/tokens/${workspaceId}/${old.id}/rotate`)
    const rotated = await visitor.submit({ days: '1', password: PASSWORD }, '/settings/tokens')
    expect({ rotation: rotated.status, account: (await service.send(plaintext, 'GET', '/account')).status }).toEqual({
      rotation: 409,
      account: 200,
    })
  })

  test.each([{ max_days: '0' }, { max_days: '91' }, { max_days: '1e1' }, {}, { max_days: '7', admin: 'yes' }])(
    'are refused and not changed if they are %j',
    async (fields) => {
      expect((await setRules({ max_days: '', ...fields })).status).toBe(422)
      expect(await rules()).toBeUndefined()
    },
  )
})

describe('the activity of a person', () => {
  test('has what their tokens and sessions did, and nothing of others', async () => {
    const mine = await tokenOf(member, ['kanban:write'])
    const theirs = await tokenOf(owner, ['kanban:write'])
    for (const [name, { plaintext }] of Object.entries({ mine, theirs }))
      await service.send(plaintext, 'POST', '/boards', { name }, { 'user-agent': `agent of ${name}` })
    await service.send(mine.plaintext, 'DELETE', '/boards/brd_00000000000000000000', undefined, { 'user-agent': 'agent of mine' })
    const visitor = await signedIn(service, member)
    await recorder.flush()
    const all = (await visitor.open('/settings/activity')).text
    for (const text of ['boards.create', 'boards.delete', 'web.sign_in', 'agent of mine', mine.token.id]) expect(all).toContain(text)
    for (const text of ['agent of theirs', theirs.token.id]) expect(all).not.toContain(text)
    const denied = (await visitor.open(`/settings/activity?token=${mine.token.id}&outcome=denied`)).text
    const entries = /<tbody>(.*)<\/tbody>/s.exec(denied)![1]!
    expect(['boards.delete', 'boards.create', 'web.sign_in'].filter((operation) => entries.includes(operation))).toEqual(['boards.delete'])
  })

  test('has pages', async () => {
    const { plaintext } = await tokenOf(member, ['kanban:write'])
    for (let i = 0; i < 60; i++) {
      service.now += 1
      await service.send(plaintext, 'POST', '/boards', { name: String(i) })
      await recorder.flush()
    }
    const visitor = await signedIn(service, member)
    const count = (text: string) => text.match(/boards\.create/g)!.length
    const first = await visitor.open('/settings/activity')
    const [, older] = /href="(\/settings\/activity\?before=[^"]*)"/.exec(first.text)!
    const second = await visitor.open(older!.replaceAll('&amp;', '&'))
    expect({ lines: count(first.text) + count(second.text), text: second.text }).toEqual({
      lines: 60,
      text: expect.not.stringMatching(/before=/),
    })
  })

  test('has sign-ins that failed, and what was done on pages, without what was typed', async () => {
    const visitor = await signedIn(service, member)
    const failed = new Visitor(service)
    const entries = await entriesAfter(async () => {
      await failed.signIn(`${member.id}@example.org`, 'not the password')
      await failed.signIn('nobody@example.org', 'not the password')
      await visitor.signIn(`${member.id}@example.org`)
      await visitor.submit({ where: 'here' }, '/settings/sign-out')
    }, GLOBAL)
    expect(entries.filter(({ user_id }) => user_id === member.id)).toMatchObject([
      { operation: 'web.sign_in', outcome: 'denied', status: 401, address: failed.address },
      { operation: 'web.sign_in', outcome: 'done' },
      { operation: 'web.sign_out', outcome: 'done' },
    ])
    expect(JSON.stringify(entries)).not.toMatch(/password|example\.org/)
    const ofTokens = await entriesAfter(async () => {
      await visitor.signIn(`${member.id}@example.org`)
      const plaintext = await visitor.create(workspaceId, { name: 'Robot' })
      const [id] = await visitor.tokenIds()
      await visitor.open(`/settings/tokens/${workspaceId}/${id}/rotate`)
      await visitor.submit({ days: '1' }, '/settings/tokens')
      expect(plaintext).toMatch(/^lk_pat_/)
    })
    expect(ofTokens).toMatchObject([
      { operation: 'web.tokens.create', ids: [expect.stringMatching(/^tok_/)] },
      { operation: 'web.tokens.rotate', ids: [expect.stringMatching(/^tok_/), expect.stringMatching(/^tok_/)] },
    ])
    expect(JSON.stringify(ofTokens)).not.toContain('lk_pat_')
  })
})
