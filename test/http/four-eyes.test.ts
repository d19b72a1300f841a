import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/admin/commands.ts'
import { createPolicyAnswers } from '../../src/cli/policy/stored-answers.ts'
import { policyPaths, type PolicyFile } from '../../src/policy/engine.ts'
import { provePolicy } from '../../src/resources/policy-proof.ts'
import { operations } from '../../src/resources/table.ts'
import { diffPolicies } from '../../src/policy/decision-diff.ts'
import { renderDiffText } from '../../src/policy/result-formats.ts'
import { blockOf } from '../support/documents.ts'
import { setUpBoard } from '../support/board.ts'
import { createIo } from '../support/command-io.ts'
import { drivers } from '../support/drivers.ts'
import { fourEyes } from '../support/four-eyes.ts'
import { edit } from '../support/other-policy.ts'
import { load, shippedFiles } from '../support/policy.ts'

describe('the example policy with four eyes', () => {
  // After a change of the shipped policy: `npx vitest -u` with this file.
  test.each(Object.entries(policyPaths))('has the %s of the shipped policy, with its own changes', async (name, path) => {
    await expect(fourEyes[name as PolicyFile].text).toMatchFileSnapshot(`../../policies/examples/four-eyes/${path}`)
  })

  test('holds, and passes the checks of a start', () => {
    expect(provePolicy(load(fourEyes), operations).failures).toEqual([])
  })

  test('is narrower than the shipped one, as its page says', () => {
    const plain = (text: string) => text
    const text = renderDiffText(diffPolicies(load(shippedFiles), load(fourEyes)), { red: plain, green: plain, dim: plain })
    const block = blockOf('policies/examples/four-eyes/README.md', 'DENY move Card')
    for (const line of block.trimEnd().split('\n')) expect(text).toContain(line)
  })

  test('cannot use facts about a claim in a question that is asked before a card is known', () => {
    const group = '  - groups: [caller, board, claim]\n    not_found_unless: [board.access]\n    actions:\n      take: [Claim]\n\n'
    const before = '  - groups: [caller, board]\n    not_found_unless: [board.access]\n    by_field: true\n'
    const files = edit(shippedFiles, [
      ['vocabulary', '      take: [Claim]\n', ''],
      ['vocabulary', before, group + before],
    ])
    const { failures } = provePolicy(load(files), operations)
    expect(failures.filter((line) => line.includes('names no card'))).toEqual([expect.stringContaining('operation claims.take_next')])
  })
})

// What is read for it: permission.test.ts.
describe.each(drivers)('a service with four eyes, on $name', (driver) => {
  const setup = setUpBoard(driver, { engine: load(fourEyes) })

  test('a person who worked on a card cannot complete it, and only its holder moves it while it is claimed', async () => {
    const { service, ann, bob, board, cardId } = setup
    // The document describes the shipped policy, which does not forbid these.
    service.isWithinLimits = false
    const complete = (token: string) => service.send(token, 'PUT', `/cards/${cardId}/completion`, { completed: true })
    const move = (token: string) => service.send(token, 'POST', `/cards/${cardId}/move`, { to: 'last' })
    const may = async (token: string, name: string) =>
      (
        await service.send(token, 'POST', '/access/evaluation', {
          subject: { type: 'user', id: 'me' },
          action: { name },
          resource: { type: 'card', id: cardId },
        })
      ).body.data.decision
    const claim = (await service.send(bob.write, 'PUT', `/cards/${cardId}/claim`, {})).body.data
    expect({
      bobWrite: await may(bob.write, 'cards.move'),
      bobAdmin: await may(bob.admin, 'cards.move'),
      annWrite: await may(ann.write, 'cards.move'),
    }).toEqual({ bobWrite: true, bobAdmin: false, annWrite: false })
    expect({
      bobWrite: (await move(bob.write)).status,
      bobAdmin: (await move(bob.admin)).status,
      annWrite: (await move(ann.write)).status,
    }).toEqual({ bobWrite: 200, bobAdmin: 403, annWrite: 403 })
    expect({ bob: await may(bob.write, 'cards.complete'), ann: await may(ann.write, 'cards.complete') }).toEqual({ bob: false, ann: true })
    // Operators see the same, with the facts about the claim.
    const asked = {
      workspace: ann.workspaceId,
      user: bob.id,
      scope: 'kanban:write',
      operation: 'cards.complete',
      resource: cardId,
      named: {},
    }
    const policyAnswers = createPolicyAnswers(service.app.services)
    expect(await runCommand({ ...service.adminDeps, policyAnswers }, 'policy.explain', asked, createIo())).toMatchObject({
      response: { status: 403, code: 'forbidden' },
      decision: { facts: { 'card.worker': 'caller' } },
    })
    expect((await complete(bob.write)).body.error).toMatchObject({ code: 'forbidden', row: 'P9' })
    expect((await complete(bob.admin)).status).toBe(403)
    const batch = { operations: [{ operation: 'cards.complete', params: { card_id: cardId }, body: { completed: true } }] }
    expect((await service.send(bob.write, 'POST', `/boards/${board.id}/batch`, batch)).status).toBe(403)
    await service.send(bob.write, 'DELETE', `/cards/${cardId}/claim`)
    // Nobody holds it now, and bob is still the one who worked on it.
    expect({ move: (await move(ann.write)).status, complete: (await complete(bob.write)).status }).toEqual({ move: 200, complete: 403 })
    expect((await service.send(bob.write, 'PUT', `/cards/${cardId}/claim`, {})).body.data.epoch).toBe(claim.epoch + 1)
    expect((await complete(ann.write)).status).toBe(200)
    expect((await service.send(bob.write, 'POST', `/boards/${board.id}/cards`, { column_id: setup.columnId, title: 'New' })).status).toBe(
      201,
    )
  })

  test('a person who worked on a card cannot complete it, or open it again, by a move to another column', async () => {
    const { service, ann, bob, board, cardId, columnId } = setup
    service.isWithinLimits = false
    const [done, shipped] = [await board.column('Done', { completes: true }), await board.column('Shipped', { completes: true })]
    const { epoch } = (await service.send(bob.write, 'PUT', `/cards/${cardId}/claim`, {})).body.data
    const move = async (token: string, body: object) => {
      const { status, body: answer } = await service.send(token, 'POST', `/cards/${cardId}/move`, body)
      return status === 403 ? `403 ${answer.error.row}` : status
    }
    const inBatch = (column_id: string) => ({ operations: [{ operation: 'cards.move', params: { card_id: cardId }, body: { column_id } }] })
    const other = await board.card(done, 'Other')
    for (const body of [{ column_id: done }, { before: other }]) expect(await move(bob.write, body)).toBe('403 P9')
    expect((await service.send(bob.write, 'POST', `/boards/${board.id}/batch`, inBatch(done))).status).toBe(403)
    expect((await board.read(cardId)).completed_at).toBe(null)
    await service.send(bob.write, 'DELETE', `/cards/${cardId}/claim`, undefined, { 'if-claim': `${epoch}` })
    expect(await move(ann.write, { column_id: done })).toBe(200)
    // Between two that complete, nothing is completed.
    expect(await move(bob.write, { column_id: shipped })).toBe(200)
    expect(await move(bob.write, { column_id: columnId })).toBe('403 P9')
    expect(await move(ann.write, { column_id: columnId })).toBe(200)
    // Nobody has worked on a new card.
    expect((await service.send(bob.write, 'POST', `/boards/${board.id}/cards`, { column_id: done, title: 'New' })).status).toBe(201)
  })

  test('a person who asked a question cannot answer it, and everybody else can', async () => {
    const { service, ann, bob, cardId } = setup
    service.isWithinLimits = false
    const { epoch } = (await service.send(bob.write, 'PUT', `/cards/${cardId}/claim`, {})).body.data
    await service.send(bob.write, 'POST', `/cards/${cardId}/claim/question`, { question: 'Which logo?' }, { 'if-claim': `${epoch}` })
    const answer = (token: string) => service.send(token, 'POST', `/cards/${cardId}/answer`, { body: 'The blue one.' })
    const question = { subject: { type: 'user', id: 'me' }, action: { name: 'cards.answer' }, resource: { type: 'card', id: cardId } }
    const may = async (token: string) => (await service.send(token, 'POST', '/access/evaluation', question)).body.data.decision
    expect({ bob: await may(bob.write), ann: await may(ann.write) }).toEqual({ bob: false, ann: true })
    for (const token of [bob.write, bob.admin]) expect((await answer(token)).body.error).toMatchObject({ code: 'forbidden', row: 'X11' })
    expect((await answer(ann.write)).status).toBe(201)
    // Nobody has asked now.
    expect({ status: (await answer(bob.write)).status, may: await may(bob.write) }).toEqual({ status: 409, may: true })
  })
})
