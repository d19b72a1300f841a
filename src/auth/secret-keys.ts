import { createCipheriv, createDecipheriv, createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto'
import { SEALED } from '../model/fields.ts'
import { keys as recordKeys } from '../store/keys.ts'
import type { Deps } from '../store/transact.ts'
import type { Transaction } from '../store/transaction.ts'

/** A secret cannot be sealed or opened. The message says why and what to set, and has nothing of a secret or a key but the id of a key. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError'
}

/** What work with secrets needs. */
export interface SecretDeps extends Deps {
  readonly secretKeys: SecretKeys
}

const ALGORITHM = 'aes-256-gcm'
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16]
const SETTING = 'LANEKEEPER_SECRET_KEY'
/** 32 bytes in hex or in base64 (both common alphabets). */
const KEY = /^(?:([0-9a-f]{64})|[\w+/-]{43}=?)$/i

/**
 * Seals secrets that the service must read again: AES-256-GCM, with the key of the record that a secret belongs to as additional data, so
 * that a sealed secret cannot be moved to another record. With no keys, it seals and opens nothing.
 */
export class SecretKeys {
  readonly #keys: ReadonlyMap<string, KeyObject>
  /** the ids of the keys, newest first: they are stored, and say nothing of a key */
  readonly ids: readonly string[]

  constructor(keys: readonly Uint8Array[]) {
    this.#keys = new Map(keys.map((key) => [idOf(key), createSecretKey(key)]))
    this.ids = [...this.#keys.keys()]
  }

  /** A key that ends with the process. */
  static random(): SecretKeys {
    return new SecretKeys([randomBytes(KEY_BYTES)])
  }

  /**
   * Reads keys with spaces, line breaks or commas between them, newest first.
   * @throws {SecretKeyError}
   */
  static parse(text: string): SecretKeys {
    const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
    if (entries.length === 0) throw new SecretKeyError('there is no key')
    return new SecretKeys(
      entries.map((entry, i) => {
        const found = KEY.exec(entry)
        if (found === null)
          throw new SecretKeyError(`key ${i + 1} is not 32 bytes in base64 or hex; make one with: openssl rand -base64 32`)
        return Buffer.from(entry, found[1] === undefined ? 'base64' : 'hex')
      }),
    )
  }

  /** @throws {SecretKeyError} if a key is not one of these */
  require(id: string): void {
    this.#keyOf(id)
  }

  /**
   * @param owner the key of the record that the secret belongs to
   * @param id the key's id
   * @throws {SecretKeyError} if the key is not one of these
   */
  seal(text: string, owner: string, id: string): string {
    const head = `sealed1.${id}.`
    // Never from a source of randomness that repeats, as a test's does: a nonce that is used twice reveals the texts.
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(ALGORITHM, this.#keyOf(id), nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(head + owner))
    const parts = [nonce, cipher.update(text, 'utf8'), cipher.final()]
    return head + Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64url')
  }

  /** @throws {SecretKeyError} if the key is not one of these, or what is sealed was changed or moved to another record */
  open(sealed: string, owner: string): string {
    const [, id, body = ''] = SEALED.exec(sealed) ?? []
    const bytes = Buffer.from(body, 'base64url')
    const damaged = new SecretKeyError(`the secret of ${owner} is damaged, or belongs to another record`)
    // Characters at the end can have bits that base64url ignores.
    if (id === undefined || bytes.toString('base64url') !== body) throw damaged
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(ALGORITHM, this.#keyOf(id), nonce, { authTagLength: TAG_BYTES })
    try {
      decipher.setAAD(Buffer.from(`sealed1.${id}.${owner}`)).setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      throw damaged
    }
  }

  #keyOf(id: string): KeyObject {
    const key = this.#keys.get(id)
    if (key !== undefined) return key
    const present = this.ids.length === 0 ? 'is missing' : `has only ${this.ids.join(', ')}`
    throw new SecretKeyError(`the stored secrets need the key ${id}, and ${SETTING} (or the file secret.key of a folder) ${present}`)
  }
}

/** Names a key where it can be seen. */
function idOf(key: Uint8Array): string {
  if (key.length !== KEY_BYTES) throw new RangeError(`a key has ${KEY_BYTES} bytes`)
  return createHmac('sha256', key).update('lanekeeper key id').digest('hex').slice(0, 8)
}

/**
 * Seals a secret in the commit that stores it, with the key that the storage records: so processes with different keys cannot both seal,
 * and after a rotation nobody seals with the earlier key. The first secret records its key.
 * @throws {SecretKeyError}
 */
export async function sealIn(tx: Transaction, secretKeys: SecretKeys, text: string, owner: string): Promise<string> {
  const recorded = await tx.get(recordKeys.secretKey())
  const key_id = recorded?.has_secrets === true ? recorded.key_id : secretKeys.ids[0]
  if (key_id === undefined) throw new SecretKeyError(`${SETTING} is not set: no secret can be stored without it`)
  const sealed = secretKeys.seal(text, owner, key_id)
  if (recorded?.has_secrets !== true) tx.put(recordKeys.secretKey(), { key_id, has_secrets: true, complete: recorded?.complete ?? false })
  return sealed
}
