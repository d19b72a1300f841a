import { expect, test } from 'vitest'
import { seedOn } from '../support/demo.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'

test('the demo data is created whatever the rate limits are, and counts for none of them', async () => {
  const service = await Service.start(memory, { rateLimits: { quotas: { token: 2, workspace: 3, address: 1 } } })
  const { tokens, boards } = await seedOn(service)
  expect(boards.length).toBeGreaterThan(1)
  const olivia = tokens.find(({ display_name, scopes }) => display_name === 'Olivia Stone' && scopes.includes('kanban:admin'))!
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await service.send(olivia.token, 'GET', '/account')).status)
  expect(statuses).toEqual([200, 200, 429])
  await service.stop()
})
