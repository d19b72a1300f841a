import type { Store } from './port.ts'

/** The size of a file; 0 if it is absent, or if a record is no file. */
export function sizeOfFile(key: string, value: Readonly<Record<string, unknown>> | undefined): number {
  return key.startsWith('file:') && value !== undefined ? Number(value['size']) : 0
}

/** The bytes of all files of a partition that nobody else writes to meanwhile, from their records. */
export async function sumOfFiles(store: Store, partition: string): Promise<number> {
  let sum = 0
  for await (const batch of store.scan(partition)) for (const [key, stored] of batch) sum += sizeOfFile(key, stored?.value)
  return sum
}
