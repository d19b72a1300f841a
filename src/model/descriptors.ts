import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { devNull } from 'node:os'

/** Below this limit, an operator should hear of it: it is what most systems have at least. */
export const FEW_DESCRIPTORS = 1024
/** How many files are open at once while a module with its imports is loaded, with a margin. */
const FOR_A_MODULE = 32
/** The descriptors that connections leave free: for modules, files of storage, uploads, Redis and receivers of webhooks. */
const RESERVED = 128
/** How many connections are accepted in any case. */
const FEWEST_CONNECTIONS = 8

/**
 * The number of files and connections that a process may have open, as Linux states it in `/proc/self/limits`.
 * @returns undefined on other systems; Infinity without a limit
 */
export function descriptorLimit(read: () => string = () => readFileSync('/proc/self/limits', 'utf8')): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(read()) ?? []
    if (soft === undefined) return undefined
    return soft === 'unlimited' ? Infinity : Number(soft)
  } catch {
    return undefined
  }
}

/**
 * How many connections may be open at once, so that clients cannot take the descriptors that the service needs for files.
 * @param limit {@link descriptorLimit}
 * @param used the descriptors that are open already
 * @returns undefined: there is no limit
 */
export function connectionLimit(limit: number | undefined, used = usedDescriptors()): number | undefined {
  if (limit === undefined || limit === Infinity) return undefined
  const free = limit - used
  // If there are few descriptors, most are left for files.
  return Math.max(free - RESERVED, Math.floor(free / 4), FEWEST_CONNECTIONS)
}

function usedDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}

/** Whether a module with its imports could be loaded now. */
export function areDescriptorsLeft(): boolean {
  const opened: number[] = []
  try {
    while (opened.length < FOR_A_MODULE) opened.push(openSync(devNull, 'r'))
    return true
  } catch {
    return false
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}
