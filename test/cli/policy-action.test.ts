import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { blockOf } from '../support/documents.ts'
import { policyFolder } from '../support/other-policy.ts'
import { main, requireBuild, runScript } from '../support/process.ts'
import { repositoriesFolder } from '../support/repositories.ts'

interface Step {
  readonly name: string
  readonly if?: string
  readonly shell: string
  readonly env: Readonly<Record<string, string>>
  readonly run: string
}
const action = parse(readFileSync(new URL('../../.github/actions/policy/action.yml', import.meta.url), 'utf8')) as {
  readonly inputs: Readonly<Record<string, { readonly description: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}
const repository = policyFolder()
const temporary = policyFolder()
const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], { cwd: repository })

/** A repository whose branch `origin/main` has the policy. `gh` writes what it was called with. */
beforeAll(() => {
  cpSync(repositoriesFolder, join(repository, 'access'), { recursive: true })
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '.')
  git('commit', '--quiet', '--message', 'policy')
  git('update-ref', 'refs/remotes/origin/main', 'HEAD')
  mkdirSync(join(temporary, 'bin'))
  writeFileSync(join(temporary, 'bin', 'gh'), '#!/bin/sh\necho "$GH_REPO $GH_TOKEN $@" > "$(dirname "$0")/called"\n')
  chmodSync(join(temporary, 'bin', 'gh'), 0o755)
})

/** Runs a step as GitHub does, with what its expressions have there. */
function runStep({ env, run }: Step) {
  requireBuild()
  const values: Readonly<Record<string, string>> = {
    'inputs.policy': 'access',
    'inputs.command': `${process.execPath} ${main}`,
    'inputs.token': 'token',
    'github.base_ref': 'main',
    'github.repository': 'owner/name',
    'github.event.number': '7',
    'runner.temp': temporary,
  }
  const valueOf = (text: string) =>
    text.replaceAll(/\$\{\{ ([\w.]+) \}\}/g, (_whole, name: string) => {
      if (values[name] === undefined) throw new Error(`no value for ${name}`)
      return values[name]
    })
  const stated = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, valueOf(text)]))
  const path = [join(temporary, 'bin'), process.env['PATH']].join(delimiter)
  const own = { PATH: path, GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(temporary, 'summary.md') }
  return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run], {
    cwd: repository,
    env: { ...own, ...stated },
    encoding: 'utf8',
  })
}

const [prove, compare, comment] = action.runs.steps as [Step, Step, Step]

test('the action is composite, each input is described, and no expression is part of a script', () => {
  expect(action.runs.using).toBe('composite')
  for (const { description } of Object.values(action.inputs)) expect(description).not.toBe('')
  // A name that a stranger has chosen would be executed.
  for (const { run, shell } of action.runs.steps) expect({ shell, run }).toEqual({ shell: 'bash', run: expect.not.stringContaining('${{') })
})

test('the page of the engine shows a workflow that uses the action, with inputs that the action has', () => {
  const workflow = parse(blockOf('src/policy/README.md', 'on: pull_request')) as {
    readonly jobs: { readonly policy: { readonly steps: readonly { readonly uses: string; readonly with: object }[] } }
  }
  const used = workflow.jobs.policy.steps.find(({ uses }) => uses.includes('/.github/actions/policy@'))
  expect(Object.keys(used!.with).filter((name) => action.inputs[name] === undefined)).toEqual([])
})

test('the commands of the page of the engine work', async () => {
  const script = blockOf('src/policy/README.md', 'npx lanekeeper policy test ./access')
  const { stdout, stderr } = await runScript(script, repository)
  expect({ stderr, stdout }).toEqual({ stderr: '', stdout: expect.stringMatching(/0 failed\n[^]*the same policy/) })
  expect(readFileSync(join(repository, 'access.html'), 'utf8')).toContain('Nothing has changed.')
})

test('a change that keeps all decisions passes, and its plan says so', () => {
  expect(runStep(prove).status).toBe(0)
  expect({ status: runStep(compare).status, plan: readFileSync(join(temporary, 'policy-plan.md'), 'utf8') }).toEqual({
    status: 0,
    plan: expect.stringContaining('the same policy'),
  })
})

test('a change that allows more fails, and its plan is commented on the pull request and shown in the summary', () => {
  const file = join(repository, 'access', 'permissions.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('fields: [title]', 'fields: [title, owner]'))
  expect(runStep(prove).status).toBe(7)
  const compared = runStep(compare)
  expect({ status: compared.status, stderr: compared.stderr }).toEqual({
    status: 10,
    stderr: expect.stringContaining('::error title=the policy allows more than before::'),
  })
  for (const name of ['policy-plan.md', 'summary.md']) expect(readFileSync(join(temporary, name), 'utf8')).toContain('`update Key` [R11]')
  // GitHub runs it after a step that has failed, too.
  expect(comment.if).toContain('!cancelled()')
  expect(runStep(comment).status).toBe(0)
  expect(readFileSync(join(temporary, 'bin', 'called'), 'utf8')).toMatch(/^owner\/name token pr comment 7 --body-file \S+policy-plan\.md /)
})
