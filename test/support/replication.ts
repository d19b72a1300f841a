/** Repeats something while the replica is slower than a store waits for it: the machine may be busy. */
export async function untilAcknowledged<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!/replicas answered in time$/.test((error as Error).message)) throw error
    }
  }
}
