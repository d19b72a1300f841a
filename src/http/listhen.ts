import { createRequire, Module } from 'node:module'
import type * as Listhen from 'listhen'

/**
 * Loads listhen without node-forge, from which it makes certificates for HTTPS: its 42 files would be a tenth of a start, and the service
 * speaks HTTP. If listhen uses it after all, it is loaded then.
 */
export async function loadListhen(): Promise<typeof Listhen> {
  const own = createRequire(import.meta.url)
  const require = createRequire(own.resolve('listhen'))
  const path = require.resolve('node-forge')
  if (require.cache[path] === undefined) {
    const load = (): object => {
      if (require.cache[path]?.exports === loadedWhenUsed) delete require.cache[path]
      return require(path) as object
    }
    // The loader of modules looks for this member, whatever it loads.
    const loadedWhenUsed = new Proxy({}, { get: (_target, name) => (name === '__esModule' ? undefined : Reflect.get(load(), name)) })
    require.cache[path] = Object.assign(new Module(path), { filename: path, loaded: true, exports: loadedWhenUsed })
  }
  return import('listhen')
}
