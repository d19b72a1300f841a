import type { Config } from '../config.ts'
import type { Demo } from '../demo/seed.ts'
import type { Proof } from '../policy/prove.ts'
import { kindOf } from '../store/open.ts'
import { table } from './text.ts'

/** What is there after the start. Plaintext tokens only where they were minted just now. */
export type Present = Demo & { readonly demo: 'made' | 'there' | 'unfinished' | 'none' }

/** The line that says what was proved at this start. */
export function proofLine({ permissions: permissions, cells, milliseconds }: Proof): string {
  return `policy proved: ${cells} cells of ${permissions} (action, subject) pairs in ${milliseconds.toFixed(0)} ms`
}

/** What a person needs after the start: where it is, who there is, and a line to paste. */
export function banner(url: string, proof: Proof, config: Config, present: Present): string {
  const lines = present.demo === 'made' ? demoLines(url, config, present) : stored(present)
  return ['', `Lanekeeper is at ${url}/v1`, proofLine(proof), '', ...lines, ''].map((line) => (line === '' ? '' : `  ${line}`)).join('\n')
}

function demoLines(url: string, { storage }: Config, demo: Present): string[] {
  const workspaces = new Map(demo.workspaces.map(({ id, name }) => [id, name]))
  const header = ['workspace', 'person', 'role', 'scopes', 'token']
  const rows = demo.tokens.map((token) => [
    workspaces.get(token.workspace_id)!,
    token.display_name,
    token.state === 'left' ? 'has left' : token.role,
    token.scopes.join(' '),
    token.token,
  ])
  const validity =
    kindOf(storage) === 'memory'
      ? 'Their tokens are valid until this process ends:'
      : 'Their tokens are shown this once, and valid for 90 days:'
  return [
    `Demo people. ${validity}`,
    '',
    ...table([header, ...rows]),
    '',
    `Sign in at ${url}/settings, where tokens are made, as one of these:`,
    '',
    ...table([['e-mail address', 'password'], ...demo.people.map(({ email, password }) => [email, password])]),
    '',
    'Try it:',
    '',
    `curl -s ${url}/v1/account -H 'Authorization: Bearer ${demo.tokens[0]!.token}'`,
  ]
}

function stored({ demo, workspaces }: Present): string[] {
  if (workspaces.length === 0) return ['There is no workspace yet. To begin, say "workspace create NAME" with the same --storage.']
  const names = workspaces.slice(0, 5).map(({ name }) => name)
  const more = workspaces.length > names.length ? ' …' : ''
  const kept = `${workspaces.length} ${workspaces.length === 1 ? 'workspace' : 'workspaces'}: ${names.join(', ')}${more}`
  if (demo === 'there') return [kept, 'The demo world is there already. Its tokens were shown when it was made.']
  if (demo === 'unfinished')
    return [
      kept,
      'The demo world was begun and is not finished: another process is at it, or died of it. It is made once; take an empty storage for another.',
    ]
  return [kept]
}
