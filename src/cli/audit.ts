import type { Command } from 'commander'
import type { TrailEntry } from '../audit/trail.ts'
import { addAdminCommand, noIo, runOnStorage, type CommonOptions } from './command.ts'
import { describe } from './text.ts'

interface AuditOptions extends CommonOptions {
  readonly user?: string
  readonly token?: string
  readonly since?: string
  readonly denials?: boolean
  readonly limit: string
}

/** Adds `lanekeeper audit`. */
export function addAuditCommand(program: Command): void {
  addAdminCommand(program, 'audit [workspace]', 'print the audit trail of a workspace, newest first; without one, sign-ins and accounts')
    .option('--user <user>', 'only what concerns this user')
    .option('--token <token>', 'only what was done with this token, or to it')
    .option('--since <time>', 'a date, a time, or how long ago: 2026-11-20, 2026-11-20T12:00Z, -7d, -12h, -30m')
    .option('--denials', 'only what was denied')
    .option('--limit <number>', 'the number of entries', '100')
    .action(async (workspace: string | undefined, { user, token, since, denials = false, limit, ...options }: AuditOptions) => {
      const input = { workspace, user, token, since, denials, limit: Number(limit) }
      const entries = (await runOnStorage(options, 'audit', input, noIo)) as TrailEntry[]
      console.log(options.json === true ? JSON.stringify(entries) : describe(entries.map(rowOf)))
    })
}

function rowOf({ at, user_id, token_id, operation, ids, rows, outcome, status, code, count = 1, address, agent }: TrailEntry): object {
  return {
    time: at,
    user: user_id ?? (operation.startsWith('operator.') ? 'operator' : null),
    token: token_id ?? (operation.startsWith('web.') ? 'web app' : null),
    operation: count === 1 ? operation : `${operation} (${count} times)`,
    ids,
    rows,
    outcome,
    status: code === null ? status : `${status} ${code}`,
    address,
    agent,
  }
}
