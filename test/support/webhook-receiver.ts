import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { poll } from './in-time.ts'
import { freePort } from './ports.ts'
import { newFolder, ownProcess } from './run.ts'

/** The command that runs a receiver. It is TypeScript without types: as JavaScript it runs on each version of Node.js. */
export function receiverCommand(text: string, language: string): [string, string[]] {
  const isPython = language === 'Python'
  const file = join(newFolder(), isPython ? 'receiver.py' : 'receiver.mjs')
  writeFileSync(file, text)
  return [isPython ? 'python3' : process.execPath, [file]]
}

/** Starts a receiver as the web app shows it, and waits until it listens. @param at its port; default: a free one */
export async function startReceiver(text: string, language: string, secret: string, at?: number) {
  const port = at ?? (await freePort())
  const env = { PATH: process.env['PATH'], PORT: String(port), WEBHOOK_SECRET: secret, PYTHONIOENCODING: 'utf-8' }
  const child = ownProcess(spawn(...receiverCommand(text, language), { env }))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (output += part))
  const url = `http://127.0.0.1:${port}/hook`
  const post = async (headers: Record<string, string>, body = '{}') => (await fetch(url, { method: 'POST', headers, body })).status
  await poll(`the receiver in ${language} listens`, () => post({}).then(Boolean, () => false))
  return { child, url, post, output: () => output }
}
