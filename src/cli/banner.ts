import { MAX_TOKEN_DAYS } from '../model/account.ts'
import type { Config } from '../config.ts'
import type { Demo } from '../demo/seed.ts'
import type { Proof } from '../policy/prove.ts'
import { kindOf } from '../store/open.ts'
import { table } from './text.ts'

/**
 * What the storage contains at the start. People, tokens, boards and the names of workspaces are listed only if this process has
 * just created them: to read the names, a folder would have to load all workspaces.
 */
export type Contents = (Demo & { readonly demo: 'made' }) | Present

interface Present extends Omit<Demo, 'workspaces'> {
  readonly workspaces: readonly { readonly id: string }[]
  /** `there`: exists; `unfinished`: its creation began and did not finish; `none`: not wanted */
  readonly demo: 'there' | 'unfinished' | 'none'
}

/** The result of the policy proof, as one line. */
export function proofLine({ permissions, cells, milliseconds }: Proof): string {
  return `policy proved: ${cells} cells of ${permissions} permissions in ${milliseconds.toFixed(0)} ms`
}

/** What people read after the start: the URL, the proof, the credentials of the demo data and a command to try. */
export function banner(url: string, proof: Proof, config: Config, contents: Contents): string {
  const lines = contents.demo === 'made' ? demoLines(url, config, contents) : contentLines(contents)
  return ['', `Lanekeeper is listening at ${url}/v1`, proofLine(proof), '', ...lines, '']
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')
}

function demoLines(url: string, { url: publicUrl = url, storage, passwords }: Config, demo: Demo): string[] {
  const workspaces = new Map(demo.workspaces.map(({ id, name }) => [id, name]))
  const header = ['workspace', 'user', 'role', 'scopes', 'token']
  const rows = demo.tokens.map((token) => [
    workspaces.get(token.workspace_id)!,
    token.display_name,
    token.state === 'left' ? 'former member' : token.role,
    token.scopes.join(' '),
    token.token,
  ])
  const shown = passwords ? 2 : 1
  const validity =
    kindOf(storage) === 'memory'
      ? 'The tokens are valid until this process ends:'
      : `The tokens are shown only now and are valid for ${MAX_TOKEN_DAYS} days:`
  return [
    `Demo users. ${validity}`,
    '',
    ...table([header, ...rows]),
    '',
    `To create tokens, sign in at ${publicUrl}/settings as one of these users:`,
    '',
    ...table([
      ['e-mail address', 'password'].slice(0, shown),
      ...demo.people.map(({ email, password }) => [email, password].slice(0, shown)),
    ]),
    '',
    'Try it:',
    '',
    `curl -s ${url}/v1/account -H 'Authorization: Bearer ${demo.tokens[0]!.token}'`,
  ]
}

function contentLines({ demo, workspaces }: Present): string[] {
  if (workspaces.length === 0)
    return ['There is no workspace yet. To create one, run "lanekeeper workspace create NAME" with the same --storage.']
  const summary = `${workspaces.length} ${workspaces.length === 1 ? 'workspace' : 'workspaces'}. "lanekeeper workspace list" prints them.`
  if (demo === 'there') return [summary, 'The demo data exists already. Its tokens were shown when it was created.']
  if (demo === 'unfinished')
    return [
      summary,
      'The demo data is incomplete: another process is creating it, or a process ended while creating it. It is created only once per storage; use an empty storage to create it again.',
    ]
  return [summary]
}
