import { expect, test } from 'vitest'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { DAY, HOUR } from '../../src/model/time.ts'
import { Reminders } from '../../src/reminders/reminders.ts'
import { captureLog } from '../support/log.ts'
import { Service } from '../support/service.ts'

const service = await Service.forSuite()
const workspaceId = await service.workspace()
const person = await service.person(workspaceId, 'owner')
const { random } = service.deps
const told = async () =>
  (await service.send(person.read, 'GET', '/notices?limit=100')).body.data.map(({ token_name }: { token_name: string }) => token_name)
const issue = (name: string, lifetime: number) =>
  service.write(workspaceId, (tx) => issueToken(tx, { userId: person.id, name, scopes: ['kanban:read'], lifetime }, service.deps))

test('time tells within an hour where nobody works, of however many tokens', async () => {
  const reminders = new Reminders({ services: () => service.app.services, random })
  await reminders.look()
  const names = Array.from({ length: 60 }, (_one, i) => `t${i}`)
  for (const name of names) await issue(name, 14 * DAY + 60_000)
  service.now += HOUR - 1
  await reminders.look()
  expect(await told()).toEqual([])
  service.now += 1
  await reminders.look()
  expect((await told()).toSorted()).toEqual(names.toSorted())
})

test('what cannot be told at present is told later, and the log says so', async () => {
  const captured = captureLog()
  let isFailing = true
  const services = () => {
    const failing = { ...service.app.services, clock: () => NaN }
    return { ...(isFailing ? failing : service.app.services), log: captured.log }
  }
  const reminders = new Reminders({ services, random })
  await reminders.look()
  expect(captured.lines).toMatchObject([
    { level: 40, event: 'notices.waiting', workspace_id: workspaceId, msg: 'notices that time causes are not told at present' },
  ])
  isFailing = false
  await reminders.look()
  expect(captured.lines).toHaveLength(1)
})
