#!/usr/bin/env node
import type { Command } from 'commander'
import { exitCodeOf, exitCodes, printError } from './cli/exit.ts'
import { createServiceProgram, startsService } from './cli/service-program.ts'

// A reader that closes the pipe early, such as `head`, is a success. Any other output error is a failure.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exitCodes.success : exitCodes.internal))

const args = process.argv.slice(2)
if (startsService(args)) run(createServiceProgram())
else {
  const { completeHelp, createProgram } = await import('./cli/program.ts')
  const program = createProgram()
  // Without arguments, nothing is started: a service with demo data is not what everyone expects.
  if (args.length === 0) console.log(completeHelp(program))
  else run(program)
}

function run(program: Command): void {
  program.parseAsync().catch((error: unknown) => {
    printError(error)
    process.exitCode = exitCodeOf(error)
    // Resources that a failed start has left open must not keep the process alive.
    process.exit()
  })
}
