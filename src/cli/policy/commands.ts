import type { Command } from 'commander'
import { addCoverageCommand } from './coverage.ts'
import { addDiffCommand } from './diff.ts'
import { addExplainCommand } from './explain.ts'
import { addMatrixCommand } from './matrix.ts'
import { addReplayCommand } from './replay.ts'
import { addReportCommand } from './report.ts'
import { addTestCommand } from './test.ts'
import { addVerifyLogCommand } from './verify-log.ts'
import { addWhatCanCommand } from './what-can.ts'
import { addWhoCanCommand } from './who-can.ts'

/** Adds `lanekeeper policy`. */
export function addPolicyCommands(program: Command): void {
  const policy = program.command('policy').description('what reviewers of the policy and of its decisions need')
  addTestCommand(policy)
  addDiffCommand(policy)
  addExplainCommand(policy)
  addWhoCanCommand(policy)
  addWhatCanCommand(policy)
  addCoverageCommand(policy)
  addMatrixCommand(policy)
  addReportCommand(policy)
  addVerifyLogCommand(policy)
  addReplayCommand(policy)
}
