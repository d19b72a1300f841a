import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { shippedFolder } from '../../authz/shipped-policy.ts'
import { ConfigError } from '../../config.ts'
import { decisionsOf, readRecord, type RecordedDecision } from '../../decision-log/recorded-decisions.ts'
import { Coverage, coverageKinds, type CoverageKind, type CoverageShare } from '../../policy/coverage.ts'
import { readPolicyFolder } from '../../policy/folder.ts'
import { renderLcov } from '../../policy/result-formats.ts'
import { cell, painter } from '../text.ts'
import { readLog, writeResult } from './files.ts'
import { readPolicy, SHIPPED } from './read-policy.ts'

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

/** Prints what is not covered, and writes the lines of the tables if they are wanted. */
export async function printCoverage(name: string | undefined, { log, lcov, json = false }: CoverageFlags): Promise<void> {
  const folder = name === undefined || name === SHIPPED ? undefined : name
  const { engine } = readPolicy(folder ?? SHIPPED)
  const isFolder = folder === undefined || statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  if (lcov !== undefined && !isFolder)
    throw new ConfigError(`lcov: ${folder} is a revision of git; lines can be counted only for files in a folder`)
  const coverage = new Coverage(engine)
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
  const kinds = Object.entries(coverageKinds) as [CoverageKind, string][]
  const width = Math.max(...kinds.map(([, name]) => name.length))
  const rows = kinds.map(([kind, name]) => {
    const { total, covered, unasked, missing } = shares[kind]
    const note = unasked === 0 ? '' : dim(`, ${unasked} others are answered 401 before the table is asked`)
    return `${name.padEnd(width)}  ${(missing.length === 0 ? green : red)(`${covered} of ${total}`)} (${percent(covered, total)})${note}`
  })
  const lists = kinds.flatMap(([kind, name]) => {
    const { missing } = shares[kind]
    return missing.length === 0 ? [] : ['', bold(`not covered: ${name}`), ...missing.map((one) => `  ${cell(one)}`)]
  })
  const head = source === 'decisions' ? 'coverage of the hand-written decisions' : `coverage of ${decisions} recorded decisions`
  const foreign = unknown === 0 ? [] : [`${unknown} of them are about what this policy does not have`]
  return [head, ...foreign, ...rows, ...lists].join('\n')
}

/** Rounded down: only what is complete is 100 %. */
function percent(covered: number, total: number): string {
  return `${Math.floor((1000 * covered) / total) / 10} %`
}
