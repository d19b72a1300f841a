import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addedTable } from './added.ts'

export const decisionLog = addedTable({
  name: 'decision-log',
  summary: 'CPU time of a request with a decision log in a file, and without it',
  title: 'CPU time of the server for one request, in µs, with `--decision-log FILE` and without it.',
  goal: 0.05,
  args: async () => [await mkdtemp(join(tmpdir(), 'lanekeeper-log-')), 'interval'],
})
