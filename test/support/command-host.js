// Runs commands that arrive as messages, one after the other, in a process that has loaded the commands already. Written in JavaScript
// against the built files, because the oldest supported Node version cannot run TypeScript.
import { exitCodeOf, printError } from '../../dist/cli/exit.js'
import { createProgram } from '../../dist/cli/program.js'

const baseEnv = { ...process.env }

async function run({ args, env }) {
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) process[name].write = (text) => ((output[name] += String(text)), true)
  process.env = { ...baseEnv, ...env }
  let code = 0
  try {
    await createProgram().parseAsync(['node', 'lanekeeper', ...args])
  } catch (error) {
    printError(error)
    code = exitCodeOf(error)
  }
  // A service that has not started leaves them.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal)
  return { code, ...output }
}

let queue = Promise.resolve()
process.on('message', (request) => {
  queue = queue.then(() => run(request)).then((result) => process.send(result))
})
