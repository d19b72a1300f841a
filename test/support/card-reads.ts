import type { Service } from './service.ts'

/** Calls a function with the number of cards of each range that is read. */
export function watchCards(service: Service, report: (cards: number) => void): void {
  const { read } = service.store
  service.store.read = async (partition, request) => {
    const snapshot = await read.call(service.store, partition, request)
    for (const [i, { records }] of (snapshot?.ranges ?? []).entries()) if (request.ranges[i]!.fetch === 'card:') report(records.length)
    return snapshot
  }
}
