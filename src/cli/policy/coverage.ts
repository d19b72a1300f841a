import { statSync } from 'node:fs'
import { relative } from 'node:path'
import type { Command } from 'commander'
import { ConfigError } from '../../config.ts'
import type { Coverage, CoverageKind, CoverageShare } from '../../policy/coverage.ts'
import type { RecordedDecision } from '../../decision-log/recorded-decisions.ts'
import { POLICY_NAMES } from '../command.ts'
import { cell, painter } from '../text.ts'
import { readLog, writeResult } from './files.ts'

interface CoverageFlags {
  readonly log?: readonly string[]
  readonly lcov?: string
  readonly json?: boolean
}

/** What was counted, for the summary. */
interface Counted {
  readonly source: 'decisions' | 'log'
  readonly decisions?: number
  /** decisions about what the policy does not have */
  readonly unknown?: number
}

const names: Readonly<Record<CoverageKind, string>> = {
  rules: 'rules that decided',
  conditions: 'values of conditions that decided',
  cases: 'cases of the hand-written decisions',
  cells: 'cells of the permission table',
  scopes: 'cells of the scope table',
}

/** Adds `lanekeeper policy coverage`. */
export function addCoverageCommand(policy: Command): void {
  policy
    .command('coverage [policy]')
    .description(`list what the hand-written decisions, or the records of a decision log, do not cover of a policy; ${POLICY_NAMES}`)
    .option('--log <file...>', 'the files of a decision log; - is stdin. Default: the hand-written decisions')
    .option('--lcov <file>', 'write the lines of the two tables, and how often they decided, in the format of LCOV')
    .option('--json', 'print the result as one line of JSON')
    .action(printCoverage)
}

async function printCoverage(name: string | undefined, { log, lcov, json = false }: CoverageFlags): Promise<void> {
  const [{ shippedFolder }, { Coverage: Covered }, { readPolicyFolder }, { renderLcov }, { readPolicy, SHIPPED }] = await Promise.all([
    import('../../authz/shipped-policy.ts'),
    import('../../policy/coverage.ts'),
    import('../../policy/folder.ts'),
    import('../../policy/result-formats.ts'),
    import('./read-policy.ts'),
  ])
  const folder = name === undefined || name === SHIPPED ? undefined : name
  const { engine } = readPolicy(folder ?? SHIPPED)
  const isFolder = folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  if (lcov !== undefined && !isFolder)
    throw new ConfigError(`lcov: ${folder} is a revision of git; the lines are those of files in a folder`)
  const coverage = new Covered(engine)
  const counted = log === undefined ? addHandWritten(coverage) : await addLog(coverage, log)
  if (lcov !== undefined) {
    // Programs that read LCOV look for the files from the current folder.
    const { scopes, permissions } = readPolicyFolder(folder ?? shippedFolder, folder ?? relative(process.cwd(), shippedFolder))
    writeResult('lcov', lcov, renderLcov([scopes, permissions], coverage))
  }
  const shares = coverage.shares()
  console.log(json ? JSON.stringify({ policy: engine.hash, ...counted, ...shares }) : renderText(counted, shares))
}

function addHandWritten(coverage: Coverage): Counted {
  coverage.addAllCells()
  return { source: 'decisions' }
}

/** @throws {ConfigError} if a line is no JSON object */
async function addLog(coverage: Coverage, files: readonly string[]): Promise<Counted> {
  const { decisionsOf, readRecord } = await import('../../decision-log/recorded-decisions.ts')
  let decisions = 0
  let unknown = 0
  await readLog(files, (text) => {
    const record = readRecord(text)
    if (record === undefined) return false
    for (const { decision, count } of decisionsOf(record)) {
      decisions += count
      if (!add(coverage, decision, count)) unknown += count
    }
    return true
  })
  return { source: 'log', decisions, unknown }
}

function add(coverage: Coverage, one: RecordedDecision, count: number): boolean {
  if (one.stage === 'scope') return coverage.addScopeDecision(one.permission, one.facts, count)
  if (one.stage === 'definition') return coverage.addDefinition(one.definition, one.facts, count)
  return coverage.addDecision(one.permission, one.facts, one.fields ?? undefined, count)
}

function renderText({ source, decisions = 0, unknown = 0 }: Counted, shares: Readonly<Record<CoverageKind, CoverageShare>>): string {
  const { green, red, bold, dim } = painter(process.stdout)
  const kinds = Object.keys(names) as CoverageKind[]
  const width = Math.max(...kinds.map((kind) => names[kind].length))
  const rows = kinds.map((kind) => {
    const { total, covered, unasked, missing } = shares[kind]
    const note = unasked === 0 ? '' : dim(`, ${unasked} others are answered 401 before the table is asked`)
    return `${names[kind].padEnd(width)}  ${(missing.length === 0 ? green : red)(`${covered} of ${total}`)} (${percent(covered, total)})${note}`
  })
  const lists = kinds.flatMap((kind) =>
    shares[kind].missing.length === 0
      ? []
      : ['', bold(`not covered: ${names[kind]}`), ...shares[kind].missing.map((name) => `  ${cell(name)}`)],
  )
  const head = source === 'decisions' ? 'coverage of the hand-written decisions' : `coverage of ${decisions} recorded decisions`
  const foreign = unknown === 0 ? [] : [`${unknown} of them are about what this policy does not have`]
  return [head, ...foreign, ...rows, ...lists].join('\n')
}

/** Rounded down: only what is complete is 100 %. */
function percent(covered: number, total: number): string {
  return `${Math.floor((1000 * covered) / total) / 10} %`
}
