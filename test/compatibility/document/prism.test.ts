import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../support/ports.ts'
import { newFolder, ownProcess } from '../../support/run.ts'
import { startDemo, type DemoService } from '../demo.ts'
import { LIBRARIES } from '../http/clients.ts'
import { playScenario } from '../scenario.ts'

const program = fileURLToPath(new URL('../node_modules/.bin/prism', import.meta.url))

let service: DemoService
let url: string
let output = ''
let end: () => Promise<void>
beforeAll(async () => {
  service = await startDemo()
  const file = join(newFolder(), 'openapi.json')
  await writeFile(file, await (await fetch(`${service.url}/openapi.json`)).text())
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  const child = ownProcess(spawn(program, ['proxy', file, `${service.url}/v1`, '-p', String(port)], { stdio: 'pipe' }))
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  while (!output.includes('listening')) {
    expect(child.exitCode, output).toBeNull()
    await delay(100)
  }
  end = async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
})
afterAll(async () => {
  await end?.()
  await service?.stop()
})

test('prism, which stands between, finds no violation of the document in the scenario', async () => {
  const connect = LIBRARIES['got']!
  const mine = await connect(url, service.tokenOf('kanban:write'))
  // prism reads a body as text, which breaks the bytes of a picture.
  const { upload } = await connect(`${service.url}/v1`, service.tokenOf('kanban:write'))
  await playScenario({ ...mine, upload }, await connect(url, service.tokenOf('kanban:admin', 'Adrian Cole')))
  expect(output.split('\n').filter((line) => /violation|✖|⚠/i.test(line))).toEqual([])
  expect(output).toContain('/claim/question')
})
