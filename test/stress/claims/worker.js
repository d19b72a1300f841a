// A worker with plain HTTP: it takes a card, says that it begins, renews its claim, and does with the card what the test tells it, each with the
// epoch of its claim.
// It knows neither when its claim runs out nor what time it is: its clock is wrong by a day, and it sends that clock as Date.
import { appendFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

const { urls, token, board, logFile, clockError } = JSON.parse(process.argv[2])
const RealDate = globalThis.Date
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + clockError] : args))
  }
  static now() {
    return RealDate.now() + clockError
  }
}
const agent = new Agent({ keepAlive: true })

/** Tells the log, which outlives this process, and then the test. */
function report(event) {
  appendFileSync(logFile, `${JSON.stringify(event)}\n`)
  process.send(event)
}

/** Sends a request to any process of the service. @returns undefined if it is not answered */
function send(method, path, body, headers) {
  const text = JSON.stringify(body)
  const sentHeaders = {
    authorization: `Bearer ${token}`,
    date: new Date().toUTCString(),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  }
  return new Promise((resolve) => {
    const url = urls[Math.floor(Math.random() * urls.length)]
    const sent = request(`${url}/v1${path}`, { method, agent, headers: sentHeaders }, (response) => {
      const parts = []
      response.on('error', () => resolve(undefined))
      response.on('data', (part) => parts.push(part))
      response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(Buffer.concat(parts).toString()) }))
    })
    sent.on('error', () => resolve(undefined))
    sent.end(text)
  })
}

/** Sends a request until it is answered. What is answered at last may be about an earlier attempt, which landed. */
async function insist(method, path, body, headers) {
  for (;;) {
    const response = await send(method, path, body, headers)
    if (response !== undefined && response.status !== 503) return response
    await delay(20)
  }
}

for (;;) {
  const taken = await send('POST', `/boards/${board}/claims`, { ttl: 10, wait: 1 })
  if (taken === undefined || taken.status === 503) await delay(20)
  else if (taken.status === 200) process.send({ event: 'idle' })
  else if (taken.status === 201) await work(taken.body.data)
  else report({ event: 'refused', status: taken.status, body: taken.body })
}

async function work({ id: card, claim: { epoch, expires_at, renewed_at } }) {
  const told = once(process, 'message')
  report({ event: 'taken', card, epoch, from: renewed_at, until: expires_at })
  const [{ way, dies, retry_after }] = await told
  const held = { 'if-claim': String(epoch) }
  const say = (step) => JSON.stringify({ step, epoch })
  const begun = await insist('POST', `/cards/${card}/comments`, { body: say('begin') }, held)
  const renewed = await insist('PUT', `/cards/${card}/claim`, { ttl: 10 }, held)
  if (renewed.status === 200) report({ event: 'renewed', card, epoch, until: renewed.body.data.expires_at })
  if (way === 'die') process.kill(process.pid, 'SIGKILL')
  if (way === 'hang') {
    const woken = once(process, 'message')
    report({ event: 'hung', card, epoch })
    await woken
  }
  // Also after a refusal, as a worker that pays no attention to it.
  const last = () => {
    if (way === 'fail') return insist('POST', `/cards/${card}/claim/failure`, { reason: `${card} ${epoch}`, retry_after }, held)
    if (way === 'ask') return insist('POST', `/cards/${card}/claim/question`, { question: say('ask') }, held)
    const params = { card_id: card }
    return insist('POST', `/boards/${board}/batch`, {
      operations: [
        { operation: 'comments.create', params, body: { body: say('done') }, if_claim: epoch },
        { operation: 'cards.complete', params, body: { completed: true }, if_claim: epoch },
      ],
    })
  }
  report({ event: 'ending', card, epoch, way })
  if (dies) setTimeout(() => process.kill(process.pid, 'SIGKILL'), Math.random() * 10)
  const ended = await last()
  const statuses = [begun, renewed, ended].map(({ status }) => status)
  report({ event: 'ended', card, epoch, way, statuses, not_before: ended.body.data?.not_before })
}
