import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addMember } from '../../src/admin/memberships.ts'
import { addUser } from '../../src/admin/users.ts'
import type { Mail } from '../../src/mail/mailer.ts'
import { DAY, MINUTE } from '../../src/model/time.ts'
import type { Membership, Role } from '../../src/model/workspace.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { entriesOf, startWithAudit } from '../support/audit-trail.ts'
import { drivers } from '../support/drivers.ts'
import { handWrittenCells, handWrittenWebActions } from '../support/hand-written-decisions.ts'
import { captureLog } from '../support/log.ts'
import { giveAccount, PASSWORD, signedIn, Visitor } from '../support/visitor.ts'
import type { Person } from '../support/service.ts'

const NEW = 'an entirely different one'

describe.each(drivers)('the members of a workspace, on $name', async (driver) => {
  const mails: Mail[] = []
  const captured = captureLog()
  const { service, recorder } = await startWithAudit(driver, {
    log: captured.log,
    mail: (one) => void mails.push(one),
  })
  const start = service.now
  let workspaceId: string
  let path: string
  let owner: Person
  let admin: Person
  let member: Person
  let addresses = 0
  let visitor: Visitor
  beforeEach(async () => {
    service.now = start
    mails.length = 0
    workspaceId = await service.workspace()
    path = `/settings/workspace/${workspaceId}/members`
    owner = await service.person(workspaceId, 'owner', 'Olga Owner')
    admin = await service.person(workspaceId, 'admin', 'Adam Admin')
    member = await service.person(workspaceId, 'member', 'Max Member')
    visitor = await signedIn(service, owner)
  })
  afterEach(() => recorder.flush())

  const membershipOf = (id: string): Promise<Membership | undefined> =>
    service.write(workspaceId, (tx) => tx.get(keys.membership(id))) as Promise<Membership | undefined>
  const roleOf = async (id: string) => {
    const found = await membershipOf(id)
    return found?.ended_at === null ? found.role : 'ended'
  }
  const newAddress = () => `new-${(addresses += 1)}-${driver.name}@example.org`
  const linkIn = (text: string) => /http:\/\/localhost(\/settings\/sign-up\?code=[\w.-]+)/.exec(text)?.[1]
  const signUpWith = async (link: string, email: string): Promise<Visitor> => {
    const browser = new Visitor(service)
    await browser.open(link)
    await browser.submit({ email, password: NEW, again: NEW }, '/settings/sign-up')
    return browser
  }
  const send = (by: Visitor, to: string, fields: Record<string, string> = {}) =>
    by.post(`${path}/${to}`, { form_token: by.formToken, ...fields })

  /** Does what each action of row X14 is about. @returns the status, and whether it was done */
  const actions: Record<string, (by: Visitor, target: Person, given: Role) => Promise<{ status: number; isDone: boolean }>> = {
    'workspace.members': async (by) => {
      const { status, text } = await by.request(path)
      return { status, isDone: text.includes('Olga Owner') }
    },
    'workspace.invite': async (by, _target, role) => {
      const { status, text } = await send(by, 'invite', { name: 'Nina', email: newAddress(), role })
      return { status, isDone: linkIn(text) !== undefined }
    },
    'workspace.change_role': async (by, target, role) => {
      const { status } = await send(by, `${target.id}/role`, { role })
      return { status, isDone: status === 303 && (await roleOf(target.id)) === role }
    },
    'workspace.end_membership': async (by, target) => {
      const { status } = await send(by, `${target.id}/end`)
      return { status, isDone: (await roleOf(target.id)) === 'ended' }
    },
    'workspace.send_link': async (by, target) => {
      const { status } = await send(by, `${target.id}/link`)
      const link = await service.write(GLOBAL, (tx) => tx.get(keys.signUp(target.id)))
      return { status, isDone: link !== undefined }
    },
  }
  const decided = handWrittenWebActions.filter(({ row }) => row === 'X14')
  const cells = decided.flatMap(({ id, decision }) =>
    handWrittenCells({ decision }).map(({ facts, response }) => ({
      id,
      role: facts['caller.role'] as Role,
      membership: facts['caller.membership']!,
      about: (facts['member.role'] ?? 'member') as Role,
      given: (facts['given.role'] ?? 'member') as Role,
      response,
    })),
  )

  test('every action of row X14 is tested', () => {
    expect(Object.keys(actions).toSorted()).toEqual(decided.map(({ id }) => id).toSorted())
  })

  test.each(cells)('$id by a $role ($membership) about a $about, to $given: $response', async (cell) => {
    const { id, role, membership, about, given, response } = cell
    const by = await service.person(workspaceId, role, 'By')
    const target = await service.person(workspaceId, about, 'Target')
    const visitorOfBy = await signedIn(service, by)
    void visitorOfBy.formToken
    if (membership === 'ended') await service.leaveOnly(workspaceId, by.id)
    let result!: { status: number; isDone: boolean }
    const entries = await entriesOf(service, recorder, workspaceId, async () => {
      result = await actions[id]!(visitorOfBy, target, given)
    })
    const isSame = id === 'workspace.change_role' && about === given
    const isAllowed = response === 'ok'
    expect({ cell, ...result }).toEqual({
      cell,
      status: isAllowed ? expect.toSatisfy((status) => status === 200 || status === 303) : response === 401 ? 404 : response,
      isDone: isAllowed,
    })
    const written = entries.map(({ operation, outcome, rows, user_id }) => ({ operation, outcome, rows, user_id }))
    const entry = (outcome: string) => [{ operation: `web.${id}`, outcome, rows: ['X14'], user_id: by.id }]
    if (response === 403) expect(written).toEqual(entry('denied'))
    else expect(written).toEqual(isAllowed && id !== 'workspace.members' && !isSame ? entry('done') : [])
  })

  describe('an invitation', () => {
    const invite = async (fields: Record<string, string>) => {
      await visitor.open(`${path}/invite`)
      return visitor.submit({ name: 'Nina New', role: 'member', ...fields }, path)
    }

    test('shows a link once and mails it, and its person signs up as a member', async () => {
      const email = newAddress()
      const page = await invite({ email: ` ${email.toUpperCase()} ` })
      const link = linkIn(page.text)!
      expect(mails).toMatchObject([{ to: email, subject: 'Lanekeeper: you are invited' }])
      expect(linkIn(mails[0]!.text)).toBe(link)
      expect((await visitor.open(path)).text).not.toContain('code=')
      expect(visitor.page!.shown).toMatch(/Nina New member invited until/)
      const browser = await signUpWith(link, email)
      expect((await browser.open('/app')).shown).toContain('your role: member')
      expect((await new Visitor(service).open(link)).shown).toContain('This sign-up link is not valid')
      expect((await visitor.open(path)).shown).not.toContain('invited until')
      expect(JSON.stringify(captured.lines)).not.toContain(link.split('code=')[1])
    })

    test('does not work after seven days, and a new link does', async () => {
      const email = newAddress()
      const link = linkIn((await invite({ email })).text)!
      service.now += 7 * DAY
      expect((await new Visitor(service).open(link)).shown).toContain('This sign-up link is not valid')
      await visitor.signIn(`${owner.id}@example.org`)
      await visitor.open(path)
      expect(visitor.page!.shown).toContain('not signed up, without a link that works')
      const [, id] = new RegExp(`${path}/(usr_\\w+)/link">Send a link`).exec(visitor.page!.text)!
      await visitor.open(`${path}/${id}/link`)
      const second = linkIn((await visitor.submit({}, path)).text)!
      expect(mails.at(-1)!.to).toBe(email)
      const browser = await signUpWith(second, email)
      expect(await browser.isSignedIn()).toBe(true)
    })

    test('of somebody with an account makes them a member without a link, and tells them', async () => {
      const other = await service.workspace('Elsewhere')
      const known = await service.person(other, 'member', 'Kim Known')
      const email = await giveAccount(service, known)
      const page = await invite({ name: 'Somebody', email, role: 'admin' })
      expect(page.shown).toContain('are a member now')
      expect(page.text).not.toContain('code=')
      expect(await membershipOf(known.id)).toMatchObject({ role: 'admin', display_name: 'Kim Known' })
      expect(mails).toMatchObject([{ to: email, text: expect.stringContaining('By: Olga Owner') }])
      const browser = new Visitor(service)
      await browser.signIn(email)
      expect(browser.page!.shown).toContain('You are now a member of the workspace')
    })

    test('of somebody who is invited elsewhere is refused: a new link would end theirs', async () => {
      const other = await service.workspace('Elsewhere')
      const boss = await service.person(other, 'owner')
      const email = newAddress()
      const browser = await signedIn(service, boss)
      await browser.open(`/settings/workspace/${other}/members/invite`)
      const link = linkIn((await browser.submit({ name: 'Nina', email, role: 'member' }, '/settings/workspace')).text)!
      const page = await invite({ email })
      expect({ status: page.status, shown: page.shown }).toEqual({
        status: 409,
        shown: expect.stringContaining('is invited to another workspace here'),
      })
      expect((await new Visitor(service).open(link)).status).toBe(200)
    })

    test.each([
      ['no address', { email: '' }, 422],
      ['no address but a word', { email: 'nina' }, 422],
      ['a line break in the address', { email: 'a@example.org\nBcc: b@example.org' }, 422],
      ['no name', { name: ' ', email: 'nina@example.org' }, 422],
      ['a role that does not exist', { email: 'nina@example.org', role: 'king' }, 422],
    ])('with %s is refused, keeps what was typed, and sends nothing', async (_what, fields, status) => {
      const before = (await visitor.open(path)).shown
      const page = await invite(fields)
      expect(page.status).toBe(status)
      expect(page.text).toContain(`value="${'email' in fields && fields.email === 'nina@example.org' ? 'nina@example.org' : ''}`)
      expect(mails).toEqual([])
      expect((await visitor.open(path)).shown).toBe(before)
    })

    test('of a member is refused, and names them', async () => {
      const page = await invite({ email: await giveAccount(service, member) })
      expect({ status: page.status, shown: page.shown }).toEqual({
        status: 409,
        shown: expect.stringContaining('Max Member, who is a member already'),
      })
    })
  })

  describe('the welcome page', () => {
    const invited = async (role: Role) => {
      const email = newAddress()
      await visitor.open(`${path}/invite`)
      const page = await visitor.submit({ name: 'Nina', email, role }, path)
      return { email, browser: await signUpWith(linkIn(page.text)!, email) }
    }

    test('is what an owner finds who signs up to a workspace without boards, once', async () => {
      const { email, browser } = await invited('owner')
      const { shown, text } = browser.page!
      expect(shown).toContain('Welcome to Acme')
      for (const to of [`/app/${workspaceId}/do/boards.create`, `${path}/invite`, '/app'])
        expect([to, (await browser.request(to)).status, text.includes(`href="${to}"`)]).toEqual([to, 200, true])
      const later = new Visitor(service)
      expect((await later.signIn(email, NEW)).shown).not.toContain('Welcome to')
    })

    test('is not for a member, nor where there is a board', async () => {
      expect((await invited('member')).browser.page!.shown).not.toContain('Welcome to')
      await service.send(owner.write, 'POST', '/boards', { name: 'Plan' })
      expect((await invited('owner')).browser.page!.shown).not.toContain('Welcome to')
    })
  })

  describe('a link for a new password', () => {
    test('is mailed to its person and not shown, where the service sends mail', async () => {
      const email = await giveAccount(service, member)
      await visitor.open(`${path}/${member.id}/link`)
      const page = await visitor.submit({}, path)
      expect({ status: page.status, link: linkIn(page.text) }).toEqual({ status: 200, link: undefined })
      const sent = mails.filter(({ text }) => linkIn(text) !== undefined)
      expect(sent).toMatchObject([{ to: email, subject: 'Lanekeeper: a link for a new password' }])
      const browser = await signUpWith(linkIn(sent[0]!.text)!, email)
      expect(await browser.isSignedIn()).toBe(true)
      expect((await new Visitor(service).signIn(email)).status).toBe(401)
    })

    test('is not made more often than an address can bear', async () => {
      await giveAccount(service, member)
      for (let i = 0; i < 7; i++) {
        await visitor.open(`${path}/${member.id}/link`)
        await visitor.submit({}, path)
      }
      expect(visitor.page!.shown).toContain('The mail was not sent')
      expect(mails.filter(({ text }) => linkIn(text) !== undefined)).toHaveLength(6)
    })
  })

  test('a membership that has ended takes its tokens and its invitation along, and its person hears of it', async () => {
    const email = await giveAccount(service, member)
    await visitor.open(`${path}/${member.id}/end`)
    const page = await visitor.submit({}, path)
    expect(page.shown).toContain('The membership has ended.')
    expect(page.shown).not.toContain('Max Member')
    expect((await service.send(member.read, 'GET', '/account')).status).toBe(401)
    expect(mails).toMatchObject([{ to: email, text: expect.stringContaining('By: Olga Owner') }])
    // Twice: the second form finds nobody.
    expect((await send(visitor, `${member.id}/end`)).status).toBe(404)

    await visitor.open(`${path}/invite`)
    const link = linkIn((await visitor.submit({ name: 'Nina', email: newAddress(), role: 'member' }, path)).text)!
    const id = `usr_${link.split('code=')[1]!.split('.')[0]}`
    await visitor.open(`${path}/${id}/end`)
    await visitor.submit({}, path)
    expect((await new Visitor(service).open(link)).status).toBe(404)
  })

  test('a changed role counts at once, and its person hears of it', async () => {
    const email = await giveAccount(service, member)
    await visitor.open(`${path}/${member.id}/role`)
    expect((await visitor.submit({ role: 'admin' }, path)).shown).toContain('The role is changed.')
    expect((await service.send(member.read, 'GET', '/members')).body.data).toContainEqual(
      expect.objectContaining({ user_id: member.id, role: 'admin' }),
    )
    expect(mails).toMatchObject([{ to: email, text: expect.stringContaining('Your role in the workspace') }])
    expect((await send(visitor, `${member.id}/role`, { role: 'king' })).status).toBe(422)
  })

  test.each([
    ['steps down', (id: string) => [`${id}/role`, { role: 'member' }] as const],
    ['leaves', (id: string) => [`${id}/end`, {}] as const],
  ])('the last owner stays: 409 if they try what %s says, and another owner makes it possible', async (_what, form) => {
    const [to, fields] = form(owner.id)
    expect((await send(visitor, to, fields)).status).toBe(409)
    expect(await roleOf(owner.id)).toBe('owner')
    await send(visitor, `${admin.id}/role`, { role: 'owner' })
    expect((await send(visitor, to, fields)).status).toBe(303)
    expect(await roleOf(owner.id)).not.toBe('owner')
  })

  test('of two owners who step down at the same time, one stays', async () => {
    const second = await service.person(workspaceId, 'owner', 'Otto Owner')
    const browser = await signedIn(service, second)
    const results = await Promise.all([
      send(visitor, `${owner.id}/role`, { role: 'member' }),
      send(browser, `${second.id}/role`, { role: 'member' }),
    ])
    expect(results.map(({ status }) => status).toSorted()).toEqual([303, 409])
    expect([await roleOf(owner.id), await roleOf(second.id)].toSorted()).toEqual(['member', 'owner'])
  })

  test('each form asks for a recent proof, and without one nothing is done', async () => {
    service.now += 11 * MINUTE
    for (const [to, fields] of [
      ['invite', { name: 'Nina', email: newAddress(), role: 'member' }],
      [`${member.id}/role`, { role: 'admin' }],
      [`${member.id}/link`, {}],
      [`${member.id}/end`, {}],
    ] as const) {
      const page = await visitor.open(`${path}/${to}`)
      expect({ to, shown: page.shown }).toEqual({ to, shown: expect.stringContaining('Your password') })
      expect({ to, status: (await send(visitor, to, fields)).status }).toEqual({ to, status: 403 })
      expect({ to, status: (await send(visitor, to, { ...fields, password: 'wrong' })).status }).toEqual({ to, status: 403 })
    }
    expect({ mails, role: await roleOf(member.id), members: (await visitor.open(path)).text.match(/\/role"/g)!.length }).toEqual({
      mails: [],
      role: 'member',
      members: 3,
    })
    await visitor.open(`${path}/${member.id}/role`)
    await visitor.submit({ role: 'admin', password: PASSWORD }, path)
    expect(await roleOf(member.id)).toBe('admin')
  })

  test('a member of another workspace, a former one and an invalid id do not exist', async () => {
    const stranger = await service.person(await service.workspace('Elsewhere'))
    for (const id of [stranger.id, 'usr_00000000000000000000', 'x'])
      for (const form of ['role', 'end', 'link']) {
        expect([id, form, (await visitor.request(`${path}/${id}/${form}`)).status]).toEqual([id, form, 404])
        expect([id, form, (await send(visitor, `${id}/${form}`, { role: 'member' })).status]).toEqual([id, form, 404])
      }
  })
})

describe.each(drivers.slice(0, 1))('without a mail server, on $name', async (driver) => {
  const { service } = await startWithAudit(driver)

  test('a link for a new password is shown, but not of somebody who is a member elsewhere, too', async () => {
    const workspaceId = await service.workspace()
    const visitor = await signedIn(service, await service.person(workspaceId, 'owner'))
    const alone = await service.person(workspaceId, 'member')
    const both = await service.person(workspaceId, 'member', 'Bea Both')
    const user = (await service.write(GLOBAL, (tx) => tx.get(keys.user(both.id))))!
    await addMember(service.deps, await service.workspace('Elsewhere'), user, 'owner')
    for (const one of [alone, both]) await giveAccount(service, one)
    const invited = await addUser(service.deps, { display_name: 'Ina Invited' })
    await addMember(service.deps, workspaceId, invited, 'member')
    const send = async (id: string) => {
      await visitor.open(`/settings/workspace/${workspaceId}/members/${id}/link`)
      const { status, text } = await visitor.submit({}, '/settings/workspace')
      return { status, isShown: text.includes('/settings/sign-up?code=') }
    }
    expect([await send(alone.id), await send(invited.id), await send(both.id)]).toEqual([
      { status: 200, isShown: true },
      { status: 200, isShown: true },
      { status: 409, isShown: false },
    ])
    expect(await service.write(GLOBAL, (tx) => tx.get(keys.signUp(both.id)))).toBeUndefined()
  })
})
