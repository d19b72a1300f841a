import type { Command } from 'commander'
import { addCoverageCommand } from './coverage.ts'
import { addDiffCommand } from './diff.ts'
import { addExplainCommand } from './explain.ts'
import { addMatrixCommand, addReportCommand } from './documents.ts'
import { addReplayCommand, addVerifyLogCommand } from './decision-log.ts'
import { addTestCommand } from './test.ts'
import { addWhatCanCommand, addWhoCanCommand } from './stored-questions.ts'

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
