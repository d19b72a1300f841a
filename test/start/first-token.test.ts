import { expect, test } from 'vitest'
import { blockOf } from '../support/documents.ts'
import { runScript, startService } from '../support/process.ts'
import { formOf, PASSWORD, visitorOf } from '../support/visitor.ts'
import { newFolder } from '../support/run.ts'

test('the way to the first token in the documents works, from an empty folder to a board of an agent', async () => {
  const folder = newFolder()
  const ofOperator = blockOf('src/settings.md', 'lanekeeper init')
  const ofAgent = blockOf('src/settings.md', 'export LANEKEEPER_TOKEN')
  const { stdout } = await runScript(ofOperator.replace('npx lanekeeper serve', ''), folder)
  const service = await startService([], { LANEKEEPER_STORAGE: `fs:${folder}/data` })
  try {
    const { url } = service
    const visitor = visitorOf(url)
    const link = new URL(/^ +(http:\S+sign-up\S+)$/m.exec(stdout)![1]!)
    await visitor.open(link.pathname + link.search)
    const email = /value="(olivia@[^"]+)"/.exec(visitor.page!.text)![1]!
    await visitor.submit({ email, password: PASSWORD, again: PASSWORD })
    await visitor.signIn(email)
    const workspace = /wsp_[0-9a-z]{20}/.exec(visitor.page!.text)![0]
    await visitor.choose(workspace, { name: 'Agent', scope: 'kanban:write' })
    const created = await visitor.submit({}, formOf(visitor.page!.text).action)
    const token = /lk_pat_[0-9A-Za-z]+/.exec(created.text)![0]
    const ofThisAgent = ofAgent.replaceAll('http://127.0.0.1:3000', url).replace('lk_pat_…', token)
    const agent = await runScript(ofThisAgent, folder, { LANEKEEPER_URL: url })
    expect(agent.stdout).toContain('To do')
  } finally {
    expect(await service.stop()).toBe(0)
  }
})
