import { newId } from '../model/ids.ts'
import { keys } from '../store/keys.ts'
import type { Value } from '../store/port.ts'
import { AdminError, type AdminDeps } from './deps.ts'
import type { ExportLine } from './export-format.ts'
import type { StagedWrite } from './staged-write.ts'
import type { TransferCounter } from './transfer-summary.ts'

/** Bytes of a file that an import has written. */
interface WrittenBytes {
  readonly blobId: string
  readonly size: number
  /** in hex */
  readonly sha256: string
}
type BytesLine = Extract<ExportLine, { bytes: string }>

/**
 * The bytes that an import has written. Each gets a new id: an id in the export may be that of bytes of another
 * workspace, which a file must not refer to.
 */
export class ReceivedBytes {
  /** by the id in the export, until a file refers to them */
  readonly #unused = new Map<string, WrittenBytes>()
  readonly #deps: AdminDeps
  readonly #write: StagedWrite
  readonly #counter: TransferCounter

  constructor(deps: AdminDeps, write: StagedWrite, counter: TransferCounter) {
    this.#deps = deps
    this.#write = write
    this.#counter = counter
  }

  /**
   * Writes the bytes of a file under a new id, unless the export abandons them.
   * @param first the first line of the file
   * @param lines the lines after it; those of the file are consumed
   * @throws {AdminError} `conflict`; `invalid` if the bytes are incomplete
   */
  async receive(first: BytesLine, lines: AsyncGenerator<ExportLine>): Promise<void> {
    const { blobs, random } = this.#deps
    const write = this.#write
    const blobId = newId('blob', random)
    await write.put([[keys.importedBytes(blobId), { blob_id: blobId }]])
    let abandoned = false
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let line: BytesLine = first; ;) {
        yield Buffer.from(line.bytes, 'base64')
        if (line.last) return
        const next = (await lines.next()).value as ExportLine | undefined
        // A later import has removed what was written so far, and would not find what is written now.
        await write.commit()
        if (next !== undefined && 'abandoned' in next && next.abandoned === first.blob_id) return void (abandoned = true)
        if (next === undefined || !('bytes' in next) || next.blob_id !== first.blob_id)
          throw new AdminError('invalid', `the bytes of ${first.blob_id} are incomplete`)
        line = next
      }
    }
    const written = await blobs.write(blobId, chunks())
    if (abandoned) return blobs.remove(blobId)
    if (this.#unused.has(first.blob_id)) throw new AdminError('invalid', `the bytes of ${first.blob_id} are in the export twice`)
    this.#unused.set(first.blob_id, { blobId, ...written })
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
    if (record['size'] === 0) return { ...record, blob_id: newId('blob', this.#deps.random) }
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
