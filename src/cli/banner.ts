import type { Demo } from '../demo/seed.ts'
import type { Proof } from '../policy/prove.ts'

/** The line that says what was proved at this start. */
export function proofLine({ pairs, cells, milliseconds }: Proof): string {
  return `policy proved: ${cells} cells of ${pairs} (action, subject) pairs in ${milliseconds.toFixed(0)} ms`
}

/** What a person needs after the start: where it is, who there is, and a line to paste. */
export function banner(url: string, proof: Proof, demo: Demo): string {
  const workspaces = new Map(demo.workspaces.map(({ id, name }) => [id, name]))
  const header = ['workspace', 'person', 'role', 'scopes', 'token']
  const rows = demo.tokens.map((token) => [
    workspaces.get(token.workspace_id)!,
    token.display_name,
    token.state === 'left' ? 'has left' : token.role,
    token.scopes.join(' '),
    token.token,
  ])
  const first = demo.tokens[0]!
  return [
    '',
    `  Lanekeeper is at ${url}/v1`,
    `  ${proofLine(proof)}`,
    '',
    '  Demo people. Their tokens are valid until this process ends:',
    '',
    ...table([header, ...rows]).map((line) => `  ${line}`),
    '',
    '  Try it:',
    '',
    `  curl -s ${url}/v1/account -H 'Authorization: Bearer ${first.token}'`,
    '',
  ].join('\n')
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_cell, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
