import { execFile } from 'node:child_process'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder } from '../../support/run.ts'
import { readText } from '../../lint/syntax.ts'
import { startDemo, type DemoService } from '../demo.ts'

/** The version that lints the document too. */
const PACKAGE = /@redocly\/cli@[\d.]+/.exec(readText('package.json'))![0]

let service: DemoService
let document: any
beforeAll(async () => {
  service = await startDemo()
  document = await (await fetch(`${service.url}/openapi.json`)).json()
})
afterAll(() => service?.stop())

/** Follows the workflow with a document of the service. @returns the exit code, and what was printed */
async function follow(openapi: unknown): Promise<{ readonly code: number; readonly output: string }> {
  const folder = newFolder()
  const workflow = join(folder, 'workflow.arazzo.yaml')
  await copyFile(fileURLToPath(new URL('workflow.arazzo.yaml', import.meta.url)), workflow)
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openapi))
  const authorization = `authorization=Bearer ${service.tokenOf('kanban:write')}`
  const command = [
    '--yes',
    '--package',
    PACKAGE,
    'redocly',
    'respect',
    workflow,
    '--server',
    `lanekeeper=${service.url}/v1`,
    '--input',
    authorization,
  ]
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', NO_COLOR: '1' }
  return new Promise((resolve) => {
    execFile('npx', command, { env }, (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }))
  })
}

test('redocly respect follows a workflow that names operations by their places', async () => {
  const { code, output } = await follow(document)
  expect(output).toContain('Steps: 4 passed, 4 total')
  expect(code).toBe(0)
})

test('redocly respect finds an answer that the document does not describe (seeded bug)', async () => {
  const wrong = structuredClone(document)
  wrong.components.schemas.Account.required.push('nickname')
  const { code, output } = await follow(wrong)
  expect(output).toContain('nickname')
  expect(code).not.toBe(0)
})
