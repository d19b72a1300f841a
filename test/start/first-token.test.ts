import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { blockOf, SHELL_FUNCTIONS } from '../support/documents.ts'
import { main, requireBuild, startService } from '../support/process.ts'
import type { Service } from '../support/service.ts'
import { formOf, PASSWORD, Visitor } from '../support/visitor.ts'
import { newFolder } from '../support/run.ts'

const run = promisify(execFile)

test('the way to the first token in the documents works, from an empty folder to a board of an agent', async () => {
  requireBuild()
  const folder = newFolder()
  const ofOperator = blockOf('README.md', 'lanekeeper init')
  const ofAgent = blockOf('src/settings.md', 'export LANEKEEPER_TOKEN')
  const shell = (script: string, url: string) => {
    const env = { PATH: process.env['PATH'], NODE: process.execPath, MAIN: main } as unknown as NodeJS.ProcessEnv
    return run('bash', ['-euc', `${SHELL_FUNCTIONS}${script.replaceAll('http://127.0.0.1:3000', url)}`], { cwd: folder, env })
  }
  const { stdout } = await shell(ofOperator.replace('npx lanekeeper serve', ''), 'http://127.0.0.1:3000')
  const service = await startService([], { LANEKEEPER_STORAGE: `fs:${folder}/data` })
  try {
    const { url } = service
    const fetchLive = (request: Request) => fetch(request, { redirect: 'manual' })
    const visitor = new Visitor({ app: { fetch: fetchLive } } as unknown as Service, { origin: url })
    const link = new URL(/^ +(http:\S+sign-up\S+)$/m.exec(stdout)![1]!)
    await visitor.open(link.pathname + link.search)
    const email = /value="(olivia@[^"]+)"/.exec(visitor.page!.text)![1]!
    await visitor.submit({ email, password: PASSWORD, again: PASSWORD })
    await visitor.signIn(email)
    const workspace = /wsp_[0-9a-z]{20}/.exec(visitor.page!.text)![0]
    await visitor.choose(workspace, { name: 'Agent', scope: 'kanban:write' })
    const created = await visitor.submit({}, formOf(visitor.page!.text).action)
    const token = /lk_pat_[0-9A-Za-z]+/.exec(created.text)![0]
    const agent = await shell(`export LANEKEEPER_URL=${url}\n${ofAgent.replace('lk_pat_…', token)}`, url)
    expect(agent.stdout).toContain('To do')
  } finally {
    expect(await service.stop()).toBe(0)
  }
})
