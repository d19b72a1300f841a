import { newId, type RandomSource } from '../model/ids.ts'
import type { Value } from '../store/port.ts'
import { AdminError } from './deps.ts'
import type { WrittenBytes } from './import-session.ts'
import type { TransferCounter } from './transfer-summary.ts'

/**
 * The bytes that an import has written. Each gets a new id: an id in the export may be that of bytes of another
 * workspace, which a file must not refer to.
 */
export class ReceivedBytes {
  /** by the id in the export, until a file refers to them */
  readonly #unused = new Map<string, WrittenBytes>()
  readonly #random: RandomSource
  readonly #counter: TransferCounter

  constructor(random: RandomSource, counter: TransferCounter) {
    this.#random = random
    this.#counter = counter
  }

  /** @param written undefined if the export abandoned the bytes */
  add(blobId: string, written: WrittenBytes | undefined): void {
    if (written === undefined) return
    if (this.#unused.has(blobId)) throw new AdminError('invalid', `the bytes of ${blobId} are in the export twice`)
    this.#unused.set(blobId, written)
    this.#counter.files++
    this.#counter.bytes += written.size
  }

  /**
   * Replaces the id of the bytes in the record of a file.
   * @returns undefined if the record is about bytes that are not imported
   * @throws {AdminError} `invalid` if the bytes are missing, or have another size or hash than the record states
   */
  withOwnBytes(key: string, record: Value): Value | undefined {
    if (key.startsWith('tombstone:')) return record['kind'] === 'blob' ? undefined : record
    if (!key.startsWith('file:')) return record
    // An empty file has no bytes, but those of its id are removed with it.
    if (record['size'] === 0) return { ...record, blob_id: newId('blob', this.#random) }
    const blobId = String(record['blob_id'])
    const written = this.#unused.get(blobId)
    this.#unused.delete(blobId)
    if (written === undefined) throw new AdminError('invalid', `${key}: the export does not have its bytes`)
    if (written.size !== record['size'] || written.sha256 !== record['sha256'])
      throw new AdminError('invalid', `${key}: its bytes do not have the size and SHA-256 that it states`)
    return { ...record, blob_id: written.blobId }
  }

  /** @throws {AdminError} `invalid` if no file refers to some bytes: they would remain for good */
  requireAllUsed(): void {
    for (const blobId of this.#unused.keys()) throw new AdminError('invalid', `no file refers to the bytes of ${blobId}`)
  }
}
