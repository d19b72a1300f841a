import { execFileSync } from 'node:child_process'

/** Builds `dist` once, for the tests that start the service as people do. */
export default function build(): void {
  execFileSync('npx', ['tsc'], { stdio: 'inherit' })
}
