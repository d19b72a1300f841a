import { execFileSync } from 'node:child_process'
import { missingProgram } from './programs.ts'

/** Requires Python 3, in which some programs of the documents are written. @throws {Error} how to install it */
export function requirePython(): void {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
  } catch {
    throw missingProgram('python3')
  }
}
