import { beforeEach, describe, expect, test } from 'vitest'
import { addMember, endMembership } from '../../src/admin/memberships.ts'
import { findToken, issueToken, rotateToken, type IssuedToken } from '../../src/auth/tokens/issue.ts'
import { DAY } from '../../src/model/time.ts'
import { keys } from '../../src/store/keys.ts'
import { newestTokens } from '../../src/web/memberships.ts'
import { setUpBoard, storeCopies, TestBoard } from '../support/board.ts'
import { drivers } from '../support/drivers.ts'
import type { Person } from '../support/service.ts'

/** Two lengths of a chain: what a request reads must not depend on it. */
const [SHORT, LONG] = [3, 60]

// A client decides how often a token is rotated, a card fails, a question is asked. Whoever reads what these have left must not follow them one by one.
describe.each(drivers)('a chain of records is read in the same number of steps, however long it is, on $name', (driver) => {
  const setup = setUpBoard(driver, { rateLimits: { quotas: { token: 1e6, workspace: 1e6, address: 1e6 } } })
  let dan: Person
  beforeEach(async () => {
    dan = await setup.service.person(setup.workspaceId)
  })

  /** How often something accesses the storage, and how many records and indexes it reads. */
  const reads = async (work: () => Promise<unknown>) => {
    const { store } = setup.service
    await setup.service.app.services.usage.settled()
    const [trips, touched] = [store.trips, store.touched.length]
    await work()
    return [store.trips - trips, store.touched.length - touched]
  }
  const request = (token: string, method: string, path: string, body?: unknown) => async () => {
    const { status } = await setup.service.send(token, method, path, body)
    expect([200, 201]).toContain(status)
  }
  const issue = (): Promise<IssuedToken> =>
    setup.service.write(setup.workspaceId, (tx) =>
      issueToken(tx, { userId: dan.id, name: 'worker', scopes: ['kanban:write'] }, setup.service.deps),
    )
  const rotate = async (tokenId: string, times: number): Promise<IssuedToken> => {
    let last: IssuedToken | undefined
    for (let i = 0; i < times; i++) {
      setup.service.now++
      last = await setup.service.write(setup.workspaceId, (tx) =>
        rotateToken(tx, { userId: dan.id, tokenId: last?.token.id ?? tokenId, lifetime: 90 * DAY }, setup.service.deps),
      )
    }
    return last!
  }

  describe('a token that was rotated and holds a claim', () => {
    /** What others and the holder request, after the token was rotated so often. */
    const afterRotations = async (times: number, isOver: boolean) => {
      const { service, ann } = setup
      const board = await TestBoard.create(service, ann)
      const columnId = await board.column()
      const cardId = await board.card(columnId, 'Claimed')
      await board.card(columnId, 'Next')
      const { token, plaintext } = await issue()
      await service.send(plaintext, 'PUT', `/cards/${cardId}/claim`, { ttl: 10 })
      const last = await rotate(token.id, times)
      await service.send(last.plaintext, 'GET', '/account')
      if (isOver) service.now += 11_000
      const { body } = await service.send(ann.read, 'GET', `/cards/${cardId}/claim`)
      expect(body.data?.token_id).toBe(isOver ? undefined : last.token.id)
      return [
        await reads(request(ann.read, 'GET', `/cards/${cardId}/claim`)),
        await reads(request(ann.read, 'GET', `/cards/${cardId}?include=claim,work`)),
        await reads(request(ann.read, 'GET', `/boards/${board.id}/cards?column_id=${columnId}&include=claim,work`)),
        await reads(request(ann.write, 'POST', `/boards/${board.id}/claims`, { column_id: columnId, ttl: 10 })),
        ...(isOver ? [] : [await reads(request(last.plaintext, 'PUT', `/cards/${cardId}/claim`, { ttl: 10 }))]),
      ]
    }

    test.each([false, true])('whether it has run out: %s', async (isOver) => {
      // What a process knows after the first time, it does not read again.
      await afterRotations(1, isOver)
      expect(await afterRotations(LONG, isOver)).toEqual(await afterRotations(SHORT, isOver))
    })

    test('also if an earlier version has rotated it, which has stored no families', async () => {
      const { service, workspaceId, cardId, ann } = setup
      const read = async (times: number) => {
        const { token, plaintext } = await issue()
        await service.send(plaintext, 'PUT', `/cards/${cardId}/claim`, { ttl: 10 })
        let [tokenId, hash] = [token.id, token.hash]
        for (let i = 0; i < times; i++) {
          const last = await rotate(tokenId, 1)
          await service.write(workspaceId, async (tx) => {
            for (const key of [keys.token(hash), keys.token(last.token.hash)]) {
              const { last: _last, family: _family, ...record } = (await tx.get(key))!
              tx.put(key, record)
            }
          })
          ;[tokenId, hash] = [last.token.id, last.token.hash]
        }
        const found = await reads(request(ann.read, 'GET', `/cards/${cardId}/claim`))
        service.now += 11_000
        return found
      }
      expect(await read(LONG)).toEqual(await read(SHORT))
    })
  })

  test('tokens that have ended: a new one, the list of them, and the end of the membership', async () => {
    const { service, workspaceId } = setup
    const after = async (times: number) => {
      dan = await service.person(workspaceId)
      const { token } = await issue()
      await rotate(token.id, times)
      const create = await reads(issue)
      const list = () => service.write(workspaceId, (tx) => newestTokens(tx, dan.id, 2, service.deps.clock))
      expect((await list()).map(({ name }) => name)).toEqual(['worker', 'worker', 'test', 'test', 'test', 'test'])
      const listed = await reads(list)
      const end = await reads(() => endMembership(service.deps, workspaceId, dan.id))
      return { create, listed, end }
    }
    expect(await after(LONG)).toEqual(await after(SHORT))
  })

  test('memberships: those who have left and joined again', async () => {
    const { service, workspaceId } = setup
    const after = async (times: number) => {
      dan = await service.person(workspaceId)
      const user = { id: dan.id, display_name: 'Dan', avatar_url: null, created_at: setup.board.now, updated_at: setup.board.now }
      for (let i = 0; i < times; i++) {
        await endMembership(service.deps, workspaceId, dan.id)
        await addMember(service.deps, workspaceId, user, 'member')
      }
      return reads(issue)
    }
    expect(await after(LONG / 4)).toEqual(await after(SHORT))
  })

  test('failures, questions and answers of a card', async () => {
    const { service, ann, bob } = setup
    const after = async (times: number) => {
      const board = await TestBoard.create(service, ann)
      const cardId = await board.card(await board.column())
      const take = async () => ({
        'if-claim': String((await service.send(ann.write, 'PUT', `/cards/${cardId}/claim`, {})).body.data.epoch),
      })
      for (let i = 0; i < times; i++) {
        await service.send(ann.write, 'POST', `/cards/${cardId}/claim/question`, { question: 'Why?' }, await take())
        await board.post(`/cards/${cardId}/answer`, { body: 'Because.' })
        await service.send(ann.write, 'POST', `/cards/${cardId}/claim/failure`, { reason: 'No.' }, await take())
        await board.post(`/cards/${cardId}/retry`)
      }
      const read = request(bob.read, 'GET', `/cards/${cardId}?include=claim,work`)
      return [await reads(read), await reads(request(bob.write, 'POST', `/boards/${board.id}/claims?include=work`, { ttl: 10 }))]
    }
    await after(1)
    expect(await after(LONG / 4)).toEqual(await after(SHORT))
  })

  test('cards that wait for each other: each step of the search for a cycle is charged', async () => {
    const { board, cardId, service, columnId } = setup
    const after = async (times: number) => {
      const ids = await storeCopies(board, keys.card(cardId), times)
      const chain = [cardId, ...ids]
      await service.write(setup.workspaceId, async (tx) => {
        await tx.read(chain.map((id) => keys.card(id)))
        for (const [i, id] of ids.entries()) tx.put(keys.card(id), { ...tx.known(keys.card(id))!, blocker_ids: [chain[i]!] })
      })
      const blocker = await board.card(columnId, 'Blocker')
      const remaining = async () =>
        Number(/"token";r=(\d+)/.exec((await board.get(`/cards/${blocker}`)).headers.get('ratelimit') ?? '')?.[1])
      const before = await remaining()
      await board.put(`/cards/${cardId}/blockers/${blocker}`)
      const units = before - (await remaining()) - 1
      await board.delete(`/cards/${blocker}`)
      return units
    }
    expect(await after(4)).toBe(1)
    expect(await after(40)).toBe(1 + Math.floor(40 / 8))
  })

  test('access to a board that is taken away again and again: one removal is pending', async () => {
    const { service, workspaceId, board, cardId } = setup
    await board.put(`/cards/${cardId}/assignees/${dan.id}`)
    await storeCopies(board, keys.card(cardId), 250, () => ({ assignee_ids: [dan.id] }))
    const pending = async () => (await service.write(workspaceId, (tx) => tx.get(keys.removals())))?.pending ?? []
    for (let i = 0; i < 5; i++) {
      await board.put(`/boards/${board.id}/visibility`, { visibility: 'private' })
      expect(await pending()).toMatchObject([{ kind: 'assignments', user_ids: [dan.id] }])
      await board.put(`/boards/${board.id}/visibility`, { visibility: 'workspace' })
    }
  })

  test('a token is found by its id in two records, however often it was rotated', async () => {
    const { token } = await issue()
    await rotate(token.id, LONG)
    const find = () => setup.service.write(setup.workspaceId, (tx) => findToken(tx, token.id))
    expect(await reads(find)).toEqual([2, 2])
  })
})
