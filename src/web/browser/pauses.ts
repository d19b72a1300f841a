/** Updates wait while a person moves a card: the page below it stays as it is. */
const pauses = new Set<Promise<void>>()

/** @returns ends the pause; it can be called twice */
export function pauseUpdates(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  pauses.add(promise)
  return () => {
    pauses.delete(promise)
    resolve()
  }
}

export const isPaused = (): boolean => pauses.size > 0

export async function whenResumed(): Promise<void> {
  while (isPaused()) await Promise.all(pauses)
}
