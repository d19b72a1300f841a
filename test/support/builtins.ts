import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

/**
 * Replaces a function of a module of Node.js, also for modules that have imported it by its name.
 * @param module the default export of the module
 * @returns a function that restores it
 */
function replaceBuiltin<Module extends object, Name extends keyof Module>(
  module: Module,
  name: Name,
  replacement: Module[Name],
): () => void {
  const original = module[name]
  module[name] = replacement
  syncBuiltinESMExports()
  return () => {
    module[name] = original
    syncBuiltinESMExports()
  }
}

/**
 * Replaces `setTimeout` of `node:timers/promises`, so that waiting takes no time.
 * @param wait is called in place of each delay, with its milliseconds
 * @returns a function that restores it
 */
export function replaceDelays(wait: (milliseconds: number) => unknown): () => void {
  const replacement = async (milliseconds?: number): Promise<void> => void (await wait(milliseconds!))
  return replaceBuiltin(timers, 'setTimeout', replacement as typeof timers.setTimeout)
}
