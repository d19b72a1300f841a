import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { endToken, issueToken, rotateToken, type IssuedToken } from '../../../src/auth/tokens/issue.ts'
import { DAY } from '../../../src/model/time.ts'
import { keys } from '../../../src/store/keys.ts'
import { memory } from '../../support/memory.ts'
import { Service, type Person } from '../../support/service.ts'

let service: Service
let person: Person
let issued: IssuedToken
beforeAll(async () => {
  service = await Service.start(memory)
})
afterAll(() => service.stop())
beforeEach(async () => {
  person = await service.person(await service.workspace())
  const request = { userId: person.id, name: 'CI', scopes: ['kanban:read', 'kanban:write'], lifetime: DAY }
  issued = await service.write(person.workspaceId, (tx) => issueToken(tx, request, service.deps))
})

const now = () => new Date(service.now).toISOString()
const stored = () => service.write(person.workspaceId, (tx) => tx.get(keys.token(issued.token.hash)))
const end = () =>
  service.write(person.workspaceId, async (tx) => {
    const token = (await tx.get(keys.token(issued.token.hash)))!
    return { before: token, after: endToken(tx, token, 'revoke', service.deps.clock) }
  })

test('a token record contains what its user chose, its lifecycle and a hash', async () => {
  expect(await stored()).toEqual({
    id: expect.stringMatching(/^tok_[0-9a-z]{20}$/),
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    user_id: person.id,
    name: 'CI',
    scopes: ['kanban:read', 'kanban:write'],
    issued_at: now(),
    expires_at: new Date(service.now + DAY).toISOString(),
    revoked_at: null,
    replaced_by: null,
  })
})

test('rotation changes nothing in the record of the old token but the time of its end and its successor', async () => {
  const request = { userId: person.id, tokenId: issued.token.id, lifetime: DAY }
  const { token } = await service.write(person.workspaceId, (tx) => rotateToken(tx, request, service.deps))
  expect(await stored()).toEqual({ ...issued.token, revoked_at: now(), replaced_by: token.id })
})

test('revocation changes nothing in the record of a token but the time of its end', async () => {
  await end()
  expect(await stored()).toEqual({ ...issued.token, revoked_at: now() })
})

test('a token that has ended is not written again', async () => {
  await end()
  const trips = service.store.trips
  const { before, after } = await end()
  expect(after).toBe(before)
  // One read and no commit.
  expect(service.store.trips - trips).toBe(1)
})
