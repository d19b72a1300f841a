import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { loadPolicy } from '../../dist/authz/shipped-policy.js'
import { createDocument } from '../../dist/http/openapi/document.js'
import { defaultRates, limits } from '../../dist/model/limits.js'
import { operations } from '../../dist/resources/table.js'

// Lints the OpenAPI document with Redocly, and with Spectral's rules for OpenAPI and for security (OWASP). npx provides all three, and
// puts their folder into PATH: their own dependencies would break `npm ci` on other platforms.

const root = new URL('../../', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'lanekeeper-lint-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const fileOf = (name, text) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/**
 * The least agent readiness that Redocly's score must state: 0.9 times the median of the operations, and 0.1 times 94, because there are
 * about 65. (It stated 90.4 when this was written.) Typical operations get full marks for descriptions, constraints, examples, errors,
 * identifiers and polymorphism. What they lack are these points of 100:
 * - parameterSimplicity, 4 or 5: a write has four parameters, that is the id in its path, `dry_run`, `If-Match` and `Idempotency-Key`, and one
 *   to a card also `If-Claim`. A read has its id, `fields` and `If-None-Match` (3), a list also `limit` and `cursor` (5). Each parameter costs one point.
 * - schemaSimplicity, 2.5 to 3.75: each level of a response costs 1.25. There are two, because of `data`, and three in lists and cards.
 * - dependencyClarity, 1.7: operations share schemas. The least that this can cost is one step.
 * With the first two, a write cannot get more than 93.5, and the document not more than 93.6. For 95, headers and parameters that the
 * service has would have to be left out of the document.
 */
const MINIMUM_SCORE = 90

/** @returns whether Redocly's score of the document is high enough */
function isReadyForAgents(file) {
  const { stdout } = spawnSync('redocly', ['score', file, '--format', 'json'], { encoding: 'utf8' })
  const { agentReadiness } = JSON.parse(stdout.slice(stdout.indexOf('{')))
  console.log(`> redocly score: ${agentReadiness} of 100, at least ${MINIMUM_SCORE} required`)
  return agentReadiness >= MINIMUM_SCORE
}

/** Runs a program of npx. Its output is that of this process. @returns whether it succeeded */
function run(program, ...parameters) {
  console.log(`> ${program}`)
  return spawnSync(program, parameters, { stdio: 'inherit', cwd: new URL(root) }).status === 0
}

const owasp = process.env['PATH']
  .split(delimiter)
  .map((path) => join(path, '../@stoplight/spectral-owasp-ruleset/dist/ruleset.js'))
  .find((path) => existsSync(path))
if (owasp === undefined) throw new Error('the OWASP ruleset is not installed: start this with "npm run lint:api"')

const { uploadBytes } = limits
const document = createDocument({ engine: loadPolicy(), operations, uploadBytes, quotas: defaultRates })
const openapi = fileOf('openapi.json', JSON.stringify(document, null, 1))
const { rules } = parse(readFileSync(new URL('.spectral.yaml', root), 'utf8'))
const spectral = fileOf(
  'spectral.yaml',
  stringify({
    extends: [
      ['spectral:oas', 'all'],
      [owasp, 'all'],
    ],
    rules,
  }),
)

const results = [
  run('redocly', 'lint', openapi, '--config', '.redocly.yaml'),
  isReadyForAgents(openapi),
  run('spectral', 'lint', openapi, '--ruleset', spectral, '--fail-severity', 'warn'),
]
process.exitCode = results.every(Boolean) ? 0 : 1
