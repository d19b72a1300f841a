import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { readReceiver, receivers } from '../../src/web/webhooks/receivers.ts'
import { newSecret, sign, type SignatureHeaders } from '../../src/webhooks/signature.ts'
import { compile } from '../support/compile.ts'
import { inTime, poll } from '../support/in-time.ts'
import { requirePython } from '../support/python.ts'
import { ownProcess } from '../support/run.ts'
import { receiverCommand, startReceiver } from '../support/webhook-receiver.ts'

// The receivers that the web app shows are run as they are, and get deliveries with the signatures of the service.
const [SECRET, OLD, OTHER] = [newSecret(systemRandom), newSecret(systemRandom), newSecret(systemRandom)]
const BODY = JSON.stringify({ type: 'board.changed', data: { entries: [{ title: 'Grüße, 世界 🎉' }] } })
const now = () => Math.floor(Date.now() / 1000)

const signed = (members: Partial<Parameters<typeof sign>[0]> = {}): SignatureHeaders =>
  sign({ secrets: [SECRET], id: 'msg_1', timestamp: now(), body: BODY, ...members })
const withSignature = (change: (signature: string) => string) => {
  const headers = signed()
  return { ...headers, 'webhook-signature': change(headers['webhook-signature']) }
}
const without = (name: keyof SignatureHeaders) => Object.fromEntries(Object.entries(signed()).filter(([one]) => one !== name))

type Case = [title: string, headers: () => Record<string, string>, status: number, body?: string]
/** What is sent → what is answered. */
const deliveries: readonly Case[] = [
  ['a delivery', () => signed(), 204],
  ['one while the old secret signs too', () => signed({ secrets: [OLD, SECRET] }), 204],
  ['one of four minutes ago', () => signed({ timestamp: now() - 240 }), 204],
  ['one with another secret', () => signed({ secrets: [OTHER] }), 400],
  ['one of ten minutes ago', () => signed({ timestamp: now() - 600 }), 400],
  ['one of the future', () => signed({ timestamp: now() + 600 }), 400],
  ['another body', () => signed(), 400, BODY.replace('title', 'other')],
  ['another id', () => ({ ...signed(), 'webhook-id': 'msg_2' }), 400],
  ['another time', () => ({ ...signed(), 'webhook-timestamp': String(now() - 1) }), 400],
  ['a signature of another version', () => withSignature((one) => one.replace('v1', 'v2')), 400],
  ['a signature that is cut', () => withSignature((one) => one.slice(0, -1)), 400],
  ['a signature with other letters', () => withSignature((one) => one.replace(/.$/, 'é')), 400],
  ['no signature', () => without('webhook-signature'), 400],
  ['no time', () => without('webhook-timestamp'), 400],
  ['no id', () => without('webhook-id'), 400],
]

beforeAll(requirePython)

describe.each(receivers)('the receiver in $title', ({ path, title }) => {
  const text = readReceiver({ path })
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  beforeAll(async () => void (receiver = await startReceiver(text, title, SECRET)))
  afterAll(() => receiver.child.kill())

  test.each<Case>(deliveries)('%s', async (_title, headers, status, body) => {
    expect(await receiver.post(headers(), body ?? BODY)).toBe(status)
  })

  test('has printed what was delivered, and nothing else of what was sent', async () => {
    await inTime(
      poll('the entries', () => receiver.output().includes('世界 🎉')),
      receiver.output,
    )
    const lines = receiver.output().split('\n')
    expect(lines.filter((line) => line.startsWith('msg_')).map((line) => line.split(' ')[0])).toEqual(['msg_1', 'msg_1', 'msg_1'])
    expect(receiver.output()).not.toContain('Traceback')
  })

  test.each(['', 'no secret', undefined])('does not start with the secret %j', async (secret) => {
    const env = { PATH: process.env['PATH'], PORT: '0', ...(secret !== undefined && { WEBHOOK_SECRET: secret }) }
    const child = ownProcess(spawn(...receiverCommand(text, title), { env, stdio: 'ignore' }))
    const [code] = await inTime(once(child, 'exit'), () => 'it runs')
    expect(code).toBe(1)
  })

  test('is short', () => {
    expect(text.split('\n').length).toBeLessThan(26)
  })
})

test('the receiver in TypeScript compiles under strict', async () => {
  expect(await compile(readReceiver(receivers[0]!))).toBe('')
})
