// Measures the decision engines in this process, and sends the result.
import { allCells, operations } from '../decisions/cells.js'
import { createCasbin } from '../decisions/casbin.js'
import { createCedar } from '../decisions/cedar.js'
import { createIfChain } from '../decisions/if-chain.js'
import { createLanekeeper } from '../decisions/lanekeeper.js'

/** Rounds, and the least CPU time of an engine in each of them in microseconds. */
const [rounds, slice] = process.argv.slice(2).map(Number)
const cells = allCells()
const engines = [await createIfChain(), createLanekeeper(), await createCedar(), await createCasbin()]
const [, ours] = engines
const outcomes = cells.map((cell) => ours.decide(ours.prepare(cell)))

for (const engine of engines)
  for (const [i, cell] of cells.entries()) {
    const outcome = engine.decide(engine.prepare(cell))
    if (outcome !== outcomes[i]) throw new Error(`${engine.name} answers ${outcome}, not ${outcomes[i]}, to ${JSON.stringify(cell)}`)
  }

const isAllowed = (_cell, i) => outcomes[i] === 'allowed'
const isRefused = (_cell, i) => outcomes[i] === 'forbidden' || outcomes[i] === 'not_found'
const kinds = { allowed: shuffled(cells.filter(isAllowed)), refused: shuffled(cells.filter(isRefused)) }
const samples = engines.map(({ name }) => ({ engine: name, allowed: [], refused: [] }))
const prepared = engines.map((engine) => Object.entries(kinds).map(([kind, of]) => [kind, of.map((cell) => engine.prepare(cell))]))
// The first of several rounds warms up the code, and is not counted.
for (let round = rounds > 1 ? 0 : 1; round <= rounds; round++)
  for (const [i, engine] of engines.entries())
    for (const [kind, requests] of prepared[i]) {
      const cost = timeOf(engine, requests)
      if (round > 0) samples[i][kind].push(cost)
    }
process.send({ samples, checked: cells.length, operations: Object.keys(operations) })

/** The CPU time of one decision in microseconds: passes over all requests are doubled until they take long enough. */
function timeOf(engine, requests) {
  for (let passes = 1; ; passes *= 2) {
    const startedAt = process.cpuUsage()
    for (let pass = 0; pass < passes; pass++) for (const request of requests) engine.decide(request)
    const { user, system } = process.cpuUsage(startedAt)
    if (user + system >= slice) return (user + system) / (passes * requests.length)
  }
}

/** In an order that is random and the same in each run: branches cannot be predicted from the one before. */
function shuffled(list) {
  let state = 1
  return list
    .map((item) => [(state = (state * 48271) % 2147483647), item])
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}
