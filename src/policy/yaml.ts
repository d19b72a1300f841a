import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'

let loaded: typeof Yaml | undefined

/**
 * The package yaml, which is loaded at its first use. Its 72 files would be a tenth of a start, and the texts of {@link readAtBuild} do not
 * need it.
 */
export function yaml(): typeof Yaml {
  return (loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml)
}
