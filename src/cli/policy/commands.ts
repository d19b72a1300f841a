import { Option, type Command } from 'commander'
import { addSetting, POLICY_NAMES } from '../command.ts'

/** Adds `lanekeeper policy`. What a command needs is loaded when it runs. */
export function addPolicyCommands(program: Command): void {
  const policy = program.command('policy').description('what reviewers of the policy and of its decisions need')
  addReviewCommands(policy)
  addExplainCommand(policy)
  addStoredCommands(policy)
  addDocumentCommands(policy)
  addLogCommands(policy)
}

/** The option of the format of a result. The first one is the default. */
function addFormat(command: Command, formats: readonly [string, ...string[]]): Command {
  return command
    .addOption(new Option('--format <format>', 'the format of the result').choices(formats).default(formats[0]))
    .option('--json', 'the same as --format json')
}

const LEGEND = `
Every answer of both policies is compared, in each cell: each combination of a permission with a scope and the facts that it depends on.
  + ALLOW, - DENY    requests that are allowed now, or no longer
  + REVEAL, - HIDE   requests that are 403 now, which tells that something exists, or 404 again
  ~ RESPONSE         requests that are refused for another reason
  + DEFINE, - DEFINE definitions of the vocabulary that are true now, or no longer
In brackets: the row of the specification, or of an extension (X). A declared reason is the author's: nothing has verified it.
Exit codes: 0, or 10 if the new policy allows more and does not declare that in the same change.`

/** Adds `lanekeeper policy test` and `diff`. */
function addReviewCommands(policy: Command): void {
  const test = policy
    .command('test [policy]')
    .description(`load a policy, prove its invariants, and compare every cell with its hand-written decisions; ${POLICY_NAMES}`)
  addFormat(test, ['text', 'json', 'tap', 'junit']).action(async (name, flags) => (await import('./test.ts')).testPolicy(name, flags))
  const diff = policy
    .command('diff <old> <new>')
    .description('what two policies decide differently; each is a folder, a revision of git as REVISION or REVISION:PATH, or "shipped"')
    .addHelpText('after', LEGEND)
  addFormat(diff, ['text', 'markdown', 'json', 'junit']).action(async (before, after, flags) =>
    (await import('./diff.ts')).diff(before, after, flags),
  )
}

/** Adds the options of a command about a stored workspace. */
function addStorage(command: Command): Command {
  addSetting(command, 'storage', 'where records are stored: fs:PATH, redis[s]://…, unix:///PATH, redis-cluster://… or redis-sentinel://…')
  addSetting(command, 'bytes')
  return command.option('--json', 'print the result as one line of JSON')
}

/** Adds `lanekeeper policy explain`. */
function addExplainCommand(policy: Command): void {
  const command = policy
    .command('explain')
    .description('explain a decision of both tables, about stated facts or a stored workspace, and what would change it')
    .requiredOption(
      '--operation <id>',
      'the id of an operation, such as boards.delete, or of an action of the web app alone, such as workspace.audit',
    )
    .option('--scope <scope>', 'the scope of the token: none, kanban:read, kanban:write or kanban:admin; the web app has no token')
    .option('--facts <facts>', 'stated facts: name=value,name=value')
    .option('--any', 'show how the answer depends on the facts that are not stated')
    .option('--fields <names>', 'the fields to change: name,name; default: all that the operation takes')
    .option(
      '--policies <policy>',
      'the policy to decide stated facts with: a folder or a revision of git; default: the one that is shipped',
    )
    .option('--as <user>', 'the id of the user, instead of stated facts')
    .option('--workspace <workspace>', 'the id of their workspace')
    .option('--resource <id>', 'the id of the resource that the path of the operation names first')
    .option('--with <ids>', 'what else the operation names: label_id=ID,user_id=ID; a list has one for each item')
  addStorage(command).action(async (flags) => (await import('./explain.ts')).printExplanation(flags))
}

/** Adds `lanekeeper policy who-can` and `what-can`. */
function addStoredCommands(policy: Command): void {
  const who = policy
    .command('who-can <operation> [resource]')
    .description('list the members of a stored workspace who may do something, by the rule that decides')
    .requiredOption('--workspace <workspace>', 'the id of the workspace')
    .option('--fields <names>', 'the fields to change: name,name; default: all that the operation takes')
    .option('--with <ids>', 'what else the operation names: label_id=ID,user_id=ID; a list has one for each item')
  addStorage(who).action(async (operation, resource, flags) =>
    (await import('./stored-questions.ts')).printWhoCan(operation, resource, flags),
  )
  const what = policy
    .command('what-can <user> [board]')
    .description('list what a member of a stored workspace may do in it, or on a board')
    .requiredOption('--workspace <workspace>', 'the id of the workspace')
    .option('--scope <scope>', 'the scope of the token: none, kanban:read, kanban:write or kanban:admin', 'kanban:admin')
  addStorage(what).action(async (user, board, flags) => (await import('./stored-questions.ts')).printWhatCan(user, board, flags))
}

/** Adds `lanekeeper policy coverage`, `matrix` and `report`. */
function addDocumentCommands(policy: Command): void {
  policy
    .command('coverage [policy]')
    .description(`list what the hand-written decisions, or the records of a decision log, do not cover of a policy; ${POLICY_NAMES}`)
    .option('--log <file...>', 'the files of a decision log; - is stdin. Default: the hand-written decisions')
    .option('--lcov <file>', 'write the lines of the two tables, and how often they decided, in the format of LCOV')
    .option('--json', 'print the result as one line of JSON')
    .action(async (name, flags) => (await import('./coverage.ts')).printCoverage(name, flags))
  const matrix = policy
    .command('matrix [policy]')
    .description(`print who may do what: every operation with the conditions under which it is allowed; ${POLICY_NAMES}`)
    .option('--cells', 'every cell of the decision space with its answer')
  addFormat(matrix, ['table', 'markdown', 'csv', 'html', 'json']).action(async (name, flags) =>
    (await import('./matrix.ts')).printMatrix(name, flags),
  )
  policy
    .command('report [policy]')
    .description(
      `write a policy as one HTML page: both tables, every answer with its reasons, and what the decisions cover; ${POLICY_NAMES}`,
    )
    .option('-o, --out <file>', 'the file to write; default: stdout')
    .option('--since <old>', 'an earlier policy: the page also has what has changed since')
    .action(async (name, flags) => (await import('./report.ts')).writeReport(name, flags))
}

/** Adds `lanekeeper policy verify-log` and `replay`. */
function addLogCommands(policy: Command): void {
  policy
    .command('verify-log <file...>')
    .description('verify that no record of a decision log was altered, removed or moved; name its files from the oldest to the newest')
    .option('--anchor <hash...>', 'hashes of lines that the log must have, such as the head of an earlier verification')
    .option('--from <hash>', 'the files begin after the line with this hash; default: they begin with the first line of the log')
    .option('--json', 'print each finding, and then the summary, as one line of JSON')
    .action(async (files, flags) => (await import('./decision-log.ts')).verify(files, flags))
  policy
    .command('replay <file...>')
    .description('decide the records of a decision log again, and print each difference')
    .option('--policies <policy>', 'the policy to decide with: a folder or a revision of git; default: the one that is shipped')
    .option('--json', 'print each difference, and then the summary, as one line of JSON')
    .action(async (files, flags) => (await import('./decision-log.ts')).replay(files, flags))
}
