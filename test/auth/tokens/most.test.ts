import { beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../../../src/admin/commands.ts'
import { endToken, issueToken, IssueRefused, rotateToken } from '../../../src/auth/tokens/issue.ts'
import { noIo } from '../../../src/cli/command.ts'
import { limits } from '../../../src/model/limits.ts'
import { DAY } from '../../../src/model/time.ts'
import type { TokenRecord } from '../../../src/model/token.ts'
import { keys } from '../../../src/store/keys.ts'
import { drivers } from '../../support/drivers.ts'
import { Service, type Person } from '../../support/service.ts'
import { signedIn, textOf } from '../../support/visitor.ts'

describe.each(drivers)('the most tokens that a person has in a workspace, on $name', async (driver) => {
  let workspaceId: string
  let person: Person
  const service = await Service.forSuite(driver)
  beforeEach(async () => {
    workspaceId = await service.workspace()
    // With four tokens.
    person = await service.person(workspaceId)
  })

  const issue = (count = 1, changes: object = {}) =>
    service.write(workspaceId, async (tx) => {
      const tokens: TokenRecord[] = []
      for (let i = 0; i < count; i++) {
        const request = { userId: person.id, name: 'CI', scopes: ['kanban:read'], lifetime: DAY, ...changes }
        tokens.push((await issueToken(tx, request, service.deps)).token)
      }
      return tokens
    })
  const outcome = (issued: Promise<unknown>) =>
    issued.then(
      () => 'issued',
      (error: unknown) => (error instanceof IssueRefused ? error.reason : error),
    )

  test('the 100th token is issued and the next one is not, until one has ended', async () => {
    const [first] = await issue(95)
    expect([await outcome(issue()), await outcome(issue())]).toEqual(['issued', 'too_many'])
    await service.write(workspaceId, async (tx) => {
      await tx.get(keys.token(first!.hash))
      endToken(tx, first!, service.deps.clock)
    })
    expect([await outcome(issue()), await outcome(issue())]).toEqual(['issued', 'too_many'])
    service.now += DAY
    expect(await outcome(issue())).toBe('issued')
  })

  test('an old token counts, however many have been issued and have ended since', async () => {
    await issue(95, { lifetime: 90 * DAY })
    service.now += 1
    for (let i = 0; i < 3; i++) {
      await service.write(workspaceId, async (tx) => {
        for (let k = 0; k < 100; k++) {
          const { token } = await issueToken(tx, { userId: person.id, name: 'x', scopes: [] }, service.deps)
          endToken(tx, token, service.deps.clock)
        }
      })
      service.now += 1
    }
    expect([await outcome(issue()), await outcome(issue())]).toEqual(['issued', 'too_many'])
  })

  test('of several concurrent requests, exactly as many tokens are issued as there is room for', async () => {
    await issue(94)
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => outcome(issue())))
    expect(outcomes.toSorted()).toEqual(['issued', 'issued', 'too_many', 'too_many', 'too_many', 'too_many'])
  })

  test('a rotation is not one token more, and other people and workspaces have their own limit', async () => {
    const [first] = await issue(96)
    const rotation = { userId: person.id, tokenId: first!.id, lifetime: DAY }
    expect(await outcome(service.write(workspaceId, (tx) => rotateToken(tx, rotation, service.deps)))).toBe('issued')
    expect(await outcome(issue())).toBe('too_many')
    const other = await service.person(workspaceId)
    expect(await outcome(issue(1, { userId: other.id }))).toBe('issued')
  })

  test("the form in the web app answers 422 with the limit, and so do the confirmation and the operator's command", async () => {
    const visitor = await signedIn(service, person)
    await visitor.choose(workspaceId)
    await issue(96)
    const confirmed = await visitor.submit({}, '/settings/confirm')
    const chosen = await visitor.choose(workspaceId, { name: 'Nightly build' })
    for (const page of [confirmed, chosen]) {
      expect({ status: page.status, text: textOf(page.text) }).toEqual({
        status: 422,
        text: expect.stringContaining('You have 100 active tokens in this workspace'),
      })
      expect(page.text).not.toContain('lk_pat_')
    }
    expect(chosen.text).toContain('value="Nightly build"')
    const input = { workspace: workspaceId, user: person.id, scope: 'read', name: 'CI' }
    await expect(runCommand(service.adminDeps, 'token.create', input, noIo)).rejects.toMatchObject({
      name: 'AdminError',
      code: 'conflict',
      message: `${person.id} has ${limits.tokensPerPerson} active tokens in ${workspaceId}, and cannot have more; revoke one`,
    })
  })
})
