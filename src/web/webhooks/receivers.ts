import { readFileSync } from 'node:fs'
import { packageFile } from '../../model/package-files.ts'

/** A program that receives deliveries and verifies them. */
export interface Receiver {
  readonly id: string
  readonly title: string
  /** the path of its file, from the root of the package */
  readonly path: string
}

/** Programs to begin with. They read the secret from the environment: it belongs to no file. */
export const receivers: readonly Receiver[] = [
  { id: 'receiver-ts', title: 'TypeScript', path: 'fixtures/webhook-receivers/receiver.ts' },
  { id: 'receiver-py', title: 'Python', path: 'fixtures/webhook-receivers/receiver.py' },
]

/** The text of a receiver. */
export function readReceiver({ path }: Pick<Receiver, 'path'>): string {
  return readFileSync(packageFile(path), 'utf8').trimEnd()
}
