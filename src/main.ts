#!/usr/bin/env node
import { exitOf, exits, sayFailure } from './cli/exit.ts'
import { createProgram } from './cli/program.ts'

// Whoever reads the output may stop reading (as head does); that it cannot be written must not pass for done.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exits.done : exits.failed))

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    sayFailure(error)
    process.exitCode = exitOf(error)
    // Whatever a start that failed left behind must not keep the process.
    process.exit()
  })
