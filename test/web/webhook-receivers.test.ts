import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { packageFile } from '../../src/model/package-files.ts'
import { readReceiver, receivers } from '../../src/web/webhooks/receivers.ts'
import { newSecret, sign, type SignatureHeaders } from '../../src/webhooks/signature.ts'
import { compile } from '../support/compile.ts'
import { inTime, poll } from '../support/in-time.ts'
import { requirePython } from '../support/python.ts'
import { newFolder, ownProcess } from '../support/run.ts'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

// The receivers that the web app shows are run as they are, and get deliveries with the signatures of the service.
const [SECRET, OLD, OTHER] = [newSecret(systemRandom), newSecret(systemRandom), newSecret(systemRandom)]
const BODY = JSON.stringify({ type: 'board.changed', data: { entries: [{ title: 'Grüße, 世界 🎉' }] } })
const now = () => Math.floor(Date.now() / 1000)

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The command that runs a receiver. It is TypeScript without types: as JavaScript it runs on each version of Node.js. */
async function commandOf(path: string): Promise<[string, string[]]> {
  const file = packageFile(path).pathname
  if (path.endsWith('.py')) return ['python3', [file]]
  const copy = join(newFolder(), 'receiver.mjs')
  await copyFile(file, copy)
  return [process.execPath, [copy]]
}

async function start(path: string) {
  const port = await freePort()
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: SECRET, PYTHONIOENCODING: 'utf-8' }
  const child = ownProcess(spawn(...(await commandOf(path)), { env }))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const url = `http://127.0.0.1:${port}/hook`
  const post = async (headers: Record<string, string>, body = BODY) => (await fetch(url, { method: 'POST', headers, body })).status
  await poll(`${path} listens`, () => post({}).then(Boolean, () => false))
  return { child, post, output: () => output }
}

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

describe.each(receivers)('the receiver in $title', ({ path }) => {
  let receiver: Awaited<ReturnType<typeof start>>
  beforeAll(async () => void (receiver = await start(path)))
  afterAll(() => receiver.child.kill())

  test.each<Case>(deliveries)('%s', async (_title, headers, status, body) => {
    expect(await receiver.post(headers(), body)).toBe(status)
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
    const child = ownProcess(spawn(...(await commandOf(path)), { env, stdio: 'ignore' }))
    const [code] = await inTime(once(child, 'exit'), () => 'it runs')
    expect(code).toBe(1)
  })

  test('is short', () => {
    expect(readReceiver({ path }).split('\n').length).toBeLessThan(26)
  })
})

test('the receiver in TypeScript compiles under strict', async () => {
  expect(await compile(readReceiver(receivers[0]!))).toBe('')
})
