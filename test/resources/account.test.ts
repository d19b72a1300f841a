import { describe, expect, test } from 'vitest'
import { drivers } from '../support/drivers.ts'
import { Service } from '../support/service.ts'

describe.each(drivers)('account, on $name', async (driver) => {
  const service = await Service.forSuite(driver)
  const workspaceId = await service.workspace('Acme')

  test('the account has the user, the workspace, and the scopes and lifetime of the token', async () => {
    const ann = await service.person(workspaceId, 'admin', 'Ann')
    await service.send(ann.write, 'GET', '/account')
    await service.app.services.usage.settled()
    const reply = await service.send(ann.write, 'GET', '/account')
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 200,
      body: {
        data: {
          user_id: ann.id,
          display_name: 'Ann',
          role: 'admin',
          workspace: { id: workspaceId, name: 'Acme' },
          scopes: ['kanban:read', 'kanban:write'],
          token: {
            id: expect.stringMatching(/^tok_[0-9a-z]{20}$/),
            name: 'test',
            // 90 days after 2026-11-20
            expires_at: '2027-02-18T12:00:00.000Z',
            last_used_at: '2026-11-20T12:00:00.000Z',
          },
        },
      },
    })
  })

  test.each([
    [['kanban:admin'], ['kanban:read', 'kanban:write', 'kanban:admin']],
    [['kanban:write'], ['kanban:read', 'kanban:write']],
    [['kanban:read'], ['kanban:read']],
    [
      ['other:x', 'kanban:write', 'kanban:read'],
      ['kanban:read', 'kanban:write'],
    ],
  ])('the scopes of a token that was created with %j are %j, the least first', async (chosen, effective) => {
    const person = await service.person(workspaceId)
    const token = await service.token(workspaceId, person.id, chosen)
    expect((await service.send(token, 'GET', '/account')).body.data.scopes).toEqual(effective)
  })
})
