#!/usr/bin/env node
import { exitOf, sayFailure } from './cli/exit.ts'
import { createProgram } from './cli/program.ts'

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    sayFailure(error)
    process.exitCode = exitOf(error)
    // Whatever a start that failed left behind must not keep the process.
    process.exit()
  })
