import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { readPolicyFolder } from '../../src/policy/folder.ts'
import { decide, loadPolicy, openDecisionLog, recordOf } from '../../src/policy-public.ts'
import { blockOf } from '../support/documents.ts'
import { edit, policyFolder, writePolicy } from '../support/other-policy.ts'
import { CommandHost, requireBuild } from '../support/process.ts'
import { repositoriesFolder } from '../support/repositories.ts'

const host = new CommandHost({})
const run = (...words: string[]) => host.run(['policy', ...words])
const files = readPolicyFolder(repositoriesFolder, 'repositories')
const [incident, unreadable] = [policyFolder(), policyFolder()]
const log = join(policyFolder(), 'log')

const member = { 'caller.organization': 'member', 'repository.visibility': 'private', 'repository.role': 'none', 'repository.team': 'read' }

beforeAll(async () => {
  const lines = blockOf('fixtures/policies/repositories/README.md', 'fields: [title, owner]').split('\n')
  const [before, after] = ['-', '+'].map((sign) => lines.find((line) => line.startsWith(sign))!.slice(1))
  await writePolicy(incident, edit(files, [['permissions', before!, after!]]))
  await writePolicy(unreadable, edit(files, [['permissions', 'id: R3\n', 'id: R33\n']]))
  const engine = loadPolicy(repositoriesFolder)
  const stream = new PassThrough()
  const opened = await openDecisionLog(engine, stream)
  const key = { permission: 'update Key', facts: { 'token.scope': 'repo:write', 'key.owner': 'caller' }, fields: ['owner'] }
  for (const question of [{ permission: 'read Issue', facts: { ...member, 'token.scope': 'repo:read' } }, key])
    await opened.write(recordOf(engine, decide(engine, question)))
  await opened.close()
  writeFileSync(log, await buffer(stream.end()))
})

describe('the policy of another domain', () => {
  test.each([
    [['test', repositoriesFolder], /^\d+ checks, 0 failed\n$/],
    [['matrix', repositoriesFolder], /^pulls\.merge +POST \/pulls\/\{pull\}\/merge +merge PullRequest/m],
    [['coverage', repositoriesFolder], /rules that decided +(\d+) of \1 /],
    [['report', repositoriesFolder], /<title>Policy [0-9a-f]{12} /],
    [['verify-log', log], /findings\W+0\b/],
    [['replay', log, '--policies', repositoriesFolder], /^4 decisions of 2 records: 0 are decided differently/],
  ])('%s', async (words, output) => {
    const { code, stdout, stderr } = await run(...words)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(output)
    expect(stdout).not.toMatch(/kanban|boards?\./)
  })

  test.each([
    [['issues.close', '--any', '--facts', 'caller.organization=outside,repository.role=none'], 11, /^not_found if /m],
    [['keys.update', '--facts', 'key.owner=caller', '--fields', 'title'], 0, /R11: A key says who somebody is/],
    [['keys.update', '--facts', 'key.owner=caller', '--fields', 'name'], 2, /keys.update does not take "name", but title, owner/],
  ])('explain %j', async ([operation, ...words], code, output) => {
    const result = await run('explain', '--policies', repositoriesFolder, '--operation', operation!, '--scope', 'write', ...words)
    expect({ code: result.code, output: result.stdout + result.stderr }).toEqual({ code, output: expect.stringMatching(output) })
    expect(result.stdout).not.toMatch(/kanban|401/)
  })

  test('is refused by the service', async () => {
    const { code, stderr } = await host.run(['serve', '--policies', repositoriesFolder])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('specification.yaml:4:1: this is a policy of repositories, not of this service'),
    })
  })
})

describe('in the CI of others', () => {
  const onGitHub = (...words: string[]) => host.run(['policy', ...words], { GITHUB_ACTIONS: 'true' })

  test('GitHub gets annotations: for errors in files, for claims that do not hold, and for widenings', async () => {
    const refused = await onGitHub('test', unreadable, '--format', 'junit')
    expect(refused.stderr).toMatch(
      /^::error file=\S+permissions\.yaml,line=\d+,col=9,title=the policy cannot be loaded::id "R33" does not match row R3/m,
    )
    expect(refused.stdout).not.toContain('::error')
    const failed = await onGitHub('test', incident)
    expect(failed.stderr).toMatch(
      /^::error title="update Key" answers what the decisions say in \d+ cells::"update Key" of owner, row R11/m,
    )
    const widened = await onGitHub('diff', repositoriesFolder, incident)
    expect(widened.stderr).toMatch(/^::error title=the policy allows more than before::ALLOW update Key \[R11\]/m)
    expect((await onGitHub('test', repositoriesFolder)).stderr).toBe('')
  })
})

test('the program on the page of the engine prints why a pull request is not merged', () => {
  requireBuild()
  const program = blockOf('src/policy/README.md', 'decide, explain, loadPolicy')
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const stdout = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8', cwd })
  expect(stdout).toMatch(/^true false forbidden R7 \[\[\{"fact":"branch\.protection".*"review\.state"/)
})

test('all functions of the engine work', () => {
  requireBuild()
  const tour = fileURLToPath(new URL('../support/policy-engine-tour.js', import.meta.url))
  expect(JSON.parse(execFileSync(process.execPath, [tour], { encoding: 'utf8' }))).toEqual({
    failures: 0,
    answer: 'forbidden',
    refused: ['owner'],
    can: true,
    changes: 0,
    uncovered: [],
    matrix: true,
    report: true,
    findings: 0,
    differences: 0,
  })
})

test('a service of twenty lines decides with the policy', () => {
  requireBuild()
  const file = join(repositoriesFolder, 'service.js')
  const code = readFileSync(file, 'utf8').slice(readFileSync(file, 'utf8').indexOf('\nconst policy'))
  expect(code.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('/')).length).toBeLessThanOrEqual(20)
  const client = `import { app } from ${JSON.stringify(pathToFileURL(file).href)}
    const statusOf = async (method, user) => (await app.request('/repositories/1', { method, headers: { 'x-user': user } })).status
    const statuses = []
    for (const user of ['ada', 'ben', 'eve']) statuses.push([await statusOf('GET', user), await statusOf('PATCH', user)])
    console.log(JSON.stringify(statuses))`
  const stdout = execFileSync(process.execPath, ['--input-type=module', '--eval', client], { encoding: 'utf8', cwd: repositoriesFolder })
  expect(JSON.parse(stdout)).toEqual([
    [200, 200],
    [200, 403],
    [404, 404],
  ])
})
