/** Repeats something while the replica is slower than a store waits for it: the machine may be busy. */
export async function untilAcknowledged<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error as Error).message.endsWith('replicas answered in time')) throw error
    }
  }
}
