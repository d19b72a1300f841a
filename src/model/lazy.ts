import { setImmediate } from 'node:timers/promises'

const loaders: (() => Promise<unknown>)[] = []

/**
 * Something that is loaded when it is first used, or after the start: a module with what it reads from files. It is loaded once, and
 * nothing of it is read from disk again. So a service works on when its files are replaced or removed.
 * @param load loads it; it is tried again after a failure
 */
export function lazy<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | undefined
  const get = (): Promise<Loaded> =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))
  loaders.push(get)
  return get
}

/** Loads everything that is {@link lazy}, also what the loaded modules have in turn. Other work is done between. */
export async function loadLazy(): Promise<void> {
  // The list grows in the loop.
  for (const load of loaders) {
    await load()
    await setImmediate()
  }
}
