#!/usr/bin/env node
import { exitCodeOf, exitCodes, printError } from './cli/exit.ts'
import { createProgram } from './cli/program.ts'

// A reader that closes the pipe early, such as `head`, is a success. Any other output error is a failure.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exitCodes.success : exitCodes.internal))

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    printError(error)
    process.exitCode = exitCodeOf(error)
    // Resources that a failed start has left open must not keep the process alive.
    process.exit()
  })
