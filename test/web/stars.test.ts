import { expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { newId } from '../../src/model/ids.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { buildTeam, startForSuite } from '../support/board-team.ts'
import { formOf, signedIn, textOf, type Visitor } from '../support/visitor.ts'

// Two people of a workspace star boards: each has an order of their own.
const service = await startForSuite()
const { api, base, boardId: spring, owner, visitor } = await buildTeam(service)
const create = async (name: string): Promise<string> => (await api('POST', '/boards', { name })).id
const mira = await service.person(owner.workspaceId, 'member', 'Mira Patel')
const member = await signedIn(service, mira)

/** The names of the boards in the list of a person; a starred one has a star before its name. */
async function listOf(from: Visitor): Promise<string[]> {
  const { text } = await from.open('/app')
  return [...text.matchAll(/<li id="brd_\w+">[^]*?<strong[^>]*>(.*?)<\/strong>[^]*?aria-pressed="(\w+)"/g)].map(([, name, isStarred]) =>
    isStarred === 'true' ? `★ ${name}` : name!,
  )
}
/** Presses the star of a board. */
async function press(from: Visitor, boardId: string) {
  await from.open('/app')
  return from.submit({}, `${base}/boards/${boardId}/star`)
}

test('boards that a person has starred come first for them alone, and then those that were changed last', async () => {
  service.now += 1000
  const summer = await create('Summer')
  service.now += 1000
  const autumn = await create('Autumn')
  expect(await listOf(visitor)).toEqual(['Autumn', 'Summer', 'Spring'])
  await press(visitor, spring)
  expect(await listOf(visitor)).toEqual(['★ Spring', 'Autumn', 'Summer'])
  await press(visitor, summer)
  // Among themselves, too, they are in the order of their changes.
  expect(await listOf(visitor)).toEqual(['★ Summer', '★ Spring', 'Autumn'])
  expect(await listOf(member)).toEqual(['Autumn', 'Summer', 'Spring'])
  await press(member, autumn)
  await press(visitor, summer)
  expect([await listOf(visitor), await listOf(member)]).toEqual([
    ['★ Spring', 'Autumn', 'Summer'],
    ['★ Autumn', 'Summer', 'Spring'],
  ])
  expect(textOf(visitor.page!.text)).toContain('Star Spring')
})

test('a board that the person may not read is starred like one that does not exist', async () => {
  const secret = await create('Secret')
  await api('PUT', `/boards/${secret}/visibility`, { visibility: 'private' })
  const { form_token } = formOf((await member.open('/app')).text, `${base}/boards/${spring}/star`).hidden
  const of = { form_token: form_token!, starred: 'true' }
  for (const id of [secret, newId('board', service.deps.random), 'nothing'])
    expect([id, (await member.post(`${base}/boards/${id}/star`, of)).status]).toEqual([id, 404])
  expect((await member.post(`${base}/boards/${spring}/star`, { starred: 'true' })).status).toBe(403)
})

test('a person has at most 100 stars: the oldest one goes', async () => {
  const old = Array.from({ length: limits.starredBoards }, () => newId('board', service.deps.random))
  await service.write(GLOBAL, async (tx) => {
    const account = await tx.get(keys.account(mira.id))
    tx.put(keys.account(mira.id), { ...account!, starred_boards: old })
  })
  await press(member, spring)
  const account = await service.write(GLOBAL, (tx) => tx.get(keys.account(mira.id)))
  expect(account!.starred_boards).toEqual([spring, ...old.slice(0, -1)])
})
