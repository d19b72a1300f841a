import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { TOTP } from 'otpauth'
import { hashRecoveryCode } from '../../src/auth/accounts/second-factor.ts'
import { sealIn } from '../../src/auth/secret-keys.ts'
import type { SecondFactor } from '../../src/model/second-factor.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import type { Service } from './service.ts'

/** The code of an authenticator app by RFC 6238, whose test vectors second-factor.test.ts has. @param secret in base32 */
export function codeAt(secret: string, at: number, digits = 6): string {
  return new TOTP({ secret, digits, algorithm: 'SHA1', period: 30 }).generate({ timestamp: at })
}

/** The secret of the test vectors of RFC 6238, in base32. */
export const TOTP_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
export const RECOVERY_CODE = '0123-4567-89ab-cdef-ghjk-mnpq'

/** Gives a person an authenticator app and a recovery code. */
export async function giveAuthenticator(service: Service, { id }: { readonly id: string }): Promise<void> {
  const { secretKeys } = service.deps
  const secret = await service.write(GLOBAL, (tx) => sealIn(tx, secretKeys, TOTP_SECRET, keys.secondFactor(id)))
  const authenticator = { secret, added_at: new Date(service.now).toISOString(), last_step: 0 }
  await giveSecondFactor(service, id, { authenticator, recovery_hashes: [hashRecoveryCode(RECOVERY_CODE)] })
}

async function giveSecondFactor(service: Service, userId: string, members: Partial<SecondFactor>): Promise<void> {
  await service.write(GLOBAL, async (tx) => {
    const stored = await tx.get(keys.secondFactor(userId))
    const empty: SecondFactor = { user_id: userId, authenticator: null, pending: null, recovery_hashes: [], passkeys: [] }
    tx.put(keys.secondFactor(userId), { ...empty, ...stored, ...members })
  })
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** An authenticator without a device: it makes passkeys (ES256) and answers challenges, as WebAuthn level 3 describes. */
export class SoftwareAuthenticator {
  readonly credentialId = randomBytes(32)
  readonly #key: KeyObject
  readonly #coordinates: { x: Buffer; y: Buffer }
  counter = 0
  /** user present and user verified */
  flags = 0x05
  userHandle = ''

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x, y } = publicKey.export({ format: 'jwk' })
    this.#key = privateKey
    this.#coordinates = { x: Buffer.from(x!, 'base64url'), y: Buffer.from(y!, 'base64url') }
  }

  get publicKey(): Buffer {
    const { x, y } = this.#coordinates
    const members: [number, number | Buffer][] = [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, x],
      [-3, y],
    ]
    return Buffer.from(isoCBOR.encode(new Map(members)))
  }

  /** Answers the options of a registration. @param origin the page's */
  create(options: any, origin: string): string {
    this.userHandle = options.user.id
    const length = Buffer.from([0, this.credentialId.length])
    const attested = Buffer.concat([Buffer.alloc(16), length, this.credentialId, this.publicKey])
    const authData = Buffer.concat([this.#authenticatorData(options.rp.id, this.flags | 0x40), attested])
    const members = { fmt: 'none', attStmt: new Map(), authData }
    const attestation = Buffer.from(isoCBOR.encode(new Map(Object.entries(members))))
    const clientDataJSON = clientData('webauthn.create', options.challenge, origin).toString('base64url')
    return this.#answer({ clientDataJSON, attestationObject: attestation.toString('base64url'), transports: ['internal'] })
  }

  /** Answers the options of an assertion. @param origin the page's */
  get(options: any, origin: string, rpId: string = options.rpId): string {
    if (this.counter > 0) this.counter++
    const authData = this.#authenticatorData(rpId, this.flags)
    const data = clientData('webauthn.get', options.challenge, origin)
    const signature = createSign('sha256')
      .update(Buffer.concat([authData, sha256(data)]))
      .sign(this.#key)
    return this.#answer({
      clientDataJSON: data.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: this.userHandle,
    })
  }

  /** Stores its passkey for a person, as if they had registered it. */
  async giveTo(service: Service, { id }: { readonly id: string }): Promise<void> {
    this.userHandle = Buffer.from(id).toString('base64url')
    const passkey = {
      id: 'pky_00000000000000000000',
      name: 'Laptop',
      credential_id: this.credentialId.toString('base64url'),
      public_key: this.publicKey.toString('base64url'),
      counter: this.counter,
      transports: ['internal'],
      added_at: new Date(service.now).toISOString(),
      used_at: null,
    }
    await giveSecondFactor(service, id, { passkeys: [passkey] })
  }

  #answer(response: object): string {
    const id = this.credentialId.toString('base64url')
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })
  }

  #authenticatorData(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter])
  }
}

function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}
