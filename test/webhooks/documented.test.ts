import { execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blockOf } from '../support/documents.ts'
import { freePort } from '../support/ports.ts'
import { inTime, poll } from '../support/in-time.ts'
import { startService, type StartedService } from '../support/process.ts'
import { requirePython } from '../support/python.ts'
import { ownProcess } from '../support/run.ts'

const run = promisify(execFile)
let service: StartedService
beforeAll(async () => {
  requirePython()
  service = await startService([], { LANEKEEPER_WEBHOOK_TARGETS: 'http://127.0.0.1:*' })
})
afterAll(() => service.stop())

test('the first delivery of the document arrives at the receiver in Python, and is verified', async () => {
  const port = await freePort()
  const olivia = service.world.tokens.find(({ scopes }: any) => scopes.includes('kanban:admin'))
  const shell = async (blocks: readonly string[], env: object) => {
    const text = blocks.join('\n').replaceAll('http://127.0.0.1:3000', service.url).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
    return (await run('bash', ['-euc', text], { env: { ...process.env, TOKEN: olivia.token, ...env } })).stdout
  }
  const walk = [
    blockOf('src/http/README.md', 'Peas first.'),
    "echo; echo \"auth='$auth'; json='$json'; api=$api; card=$card; board=$board\"",
  ]
  const names = (await shell(walk, {})).trim().split('\n').at(-1)!
  const created = await shell([names, blockOf('src/http/webhooks.md', 'whsec_[^'), 'echo "webhook=$webhook"'], {})
  const [, secret] = /^(whsec_\S+)$/m.exec(created)!
  const command = blockOf('src/http/webhooks.md', 'python3').replace('whsec_…', secret!)
  const receiver = ownProcess(spawn('bash', ['-euc', command], { env: { ...process.env, PORT: String(port) } }))
  let received = ''
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => (received += text))
  await poll('the receiver listens', () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).then(Boolean, () => false))
  const [, webhook] = /^(webhook=\S+)$/m.exec(created)!
  const output = await shell([names, webhook!, blockOf('src/http/webhooks.md', 'Sow beans')], {})
  expect(output).toMatch(/^\{"data":\{"id":"msg_\w+","at":"[^"]+","entries":0,"status":204,"duration_ms":\d+,"error":null\}\}/)
  await inTime(
    poll('the change', () => received.includes("'title': 'Sow beans'")),
    () => received,
  )
  expect(received).toMatch(/^msg_\w+ \[\]\n/)
})
