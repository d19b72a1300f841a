// Loads and proves a generated policy in this process, and sends the result. Its space has 10 values of each of some facts.
import { decide, loadPolicyTexts, prove } from '../../../dist/policy-public.js'

const facts = Number(process.argv[2])
const digits = '[d0, d1, d2, d3, d4, d5, d6, d7, d8, d9]'
const names = Array.from({ length: facts }, (_, i) => `f${'abcdefg'[i]}`)
const texts = {
  'vocabulary.yaml': `version: 1
facts:
  token: { scope: { values: [none, "all"], means: the scope } }
  thing:
${names.map((name) => `    ${name}: { values: ${digits}, means: a fact }`).join('\n')}
scope_order: token.scope
definitions:
  thing.visible: { groups: [thing], means: it can be seen }
subjects: { Thing: {} }
permissions:
  - groups: [thing]
    not_found_unless: [thing.visible]
    actions: { read: [Thing] }
`,
  'specification.yaml': `version: 1
domain: generated
rows:
  S1: { scope: all, words: everything }
  D1: { words: visible }
  R1: { scope: all, words: read what is visible }
`,
  'scopes.yaml': `version: 1
rules: [{ id: S1, row: S1, action: read, subject: Thing, conditions: { token.scope: all }, reason: because }]
`,
  'permissions.yaml': `version: 1
rules:
  - { id: D1, row: D1, action: define, subject: thing.visible, conditions: { thing.fa: { $in: [d0, d1, d2, d3, d4] } }, reason: because }
  - { id: R1, row: R1, action: read, subject: Thing, conditions: { thing.visible: true, thing.fb: d0 }, reason: because }
`,
  'decisions/cases.yaml': `version: 1
axes:
  a: { seen: { thing.fa: [d0, d1, d2, d3, d4] }, unseen: { thing.fa: [d5, d6, d7, d8, d9] } }
  b: { first: { thing.fb: d0 }, other: { thing.fb: [d1, d2, d3, d4, d5, d6, d7, d8, d9] } }
always: []
decisions:
  reading: { down: a, across: b, seen: [ok, 403], unseen: [404, 404] }
`,
  'decisions/operations.yaml': `version: 1
operations:
  things.read: [GET, "/things/{thing}", all, R1, read Thing, reading]
`,
}
const engine = loadPolicyTexts(texts)
// Milliseconds since the process began.
const loaded = performance.now()
const { cells, failures } = prove(engine)
const proved = performance.now()
if (failures.length > 0 || cells !== 10 ** facts) throw new Error(`${cells} cells: ${failures.join()}`)
const question = {
  permission: 'read Thing',
  facts: Object.fromEntries([['token.scope', 'all'], ...names.map((name) => [`thing.${name}`, 'd0'])]),
}
let count = 0
const startedAt = performance.now()
while (performance.now() - startedAt < 100) for (let i = 0; i < 100; i++, count++) decide(engine, question)
const perSecond = (count / (performance.now() - startedAt)) * 1000
process.send({ cells, loaded, proof: proved - loaded, perSecond, rss: process.memoryUsage.rss() })
