import { readFileSync } from 'node:fs'
import { packageFile } from '../model/package-files.ts'

/**
 * The text of a script or style sheet for browsers, as `build/bundle.js` made it of a file of `browser/`.
 * @throws {Error} `ENOENT` before the first build
 */
export function readAsset(
  name:
    | 'page.js'
    | 'boards.js'
    | 'unread-count.js'
    | 'stream-worker.js'
    | 'reference.js'
    | 'theme.js'
    | 'policy-report.js'
    | `${string}.css`,
): string {
  return readFileSync(packageFile(`dist/bundle/browser-${name}`), 'utf8')
}
