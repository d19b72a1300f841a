#!/usr/bin/env node
import { exitCodeOf, exitCodes, printError } from './cli/exit.ts'
import { completeHelp, createProgram } from './cli/program.ts'

// A reader that closes the pipe early, such as `head`, is a success. Any other output error is a failure.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exitCodes.success : exitCodes.internal))

const program = createProgram()
// Without arguments, nothing is started: a service with demo data is not what everyone expects.
if (process.argv.length === 2) console.log(completeHelp(program))
else
  program.parseAsync().catch((error: unknown) => {
    printError(error)
    process.exitCode = exitCodeOf(error)
    // Resources that a failed start has left open must not keep the process alive.
    process.exit()
  })
