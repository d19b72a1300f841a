import { execFileSync } from 'node:child_process'
import { missingProgram } from './programs.ts'

/** Requires Python 3 for programs of the documents. @throws {Error} how to install it */
export function requirePython(): void {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
  } catch {
    throw missingProgram('python3')
  }
}
