import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ProviderSettings } from '../../src/auth/provider/identity-provider.ts'

const CLIENT = { id: 'lanekeeper', secret: 'a client secret: of tests' } as const

/** What an ID token says, beside what each one has. */
export interface TokenClaims {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean | string
  readonly auth_time?: number
}

/** What is wrong with an answer. */
export interface Tampering {
  /** replaces claims of the ID token; undefined removes one */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** `none`: no signature; `other`: by a key that the provider does not publish; `secret`: by the client secret (HS256) */
  readonly signature?: 'none' | 'other' | 'secret'
  /** whether there is no ID token at all */
  readonly isWithout?: true
  /** of the address that the browser returns to */
  readonly answer?: Readonly<Record<string, string>>
}

interface Authorized {
  readonly nonce: string
  readonly challenge: string
  readonly redirectUri: string
  readonly claims: TokenClaims
  readonly tampering: Tampering
}

/** An identity provider on a loopback address, which does what a test wants. It is no oracle of the protocol: `oidc-provider` is. */
export class StubProvider {
  readonly issuer: string
  /** what it does with the next requests instead of answering */
  trouble: 'none' | 'hangs' | 'errors' | 'no_json' | 'busy' | 'drops' = 'none'
  /** where it takes the secret of its client from */
  takesSecretIn: 'header' | 'body' = 'header'
  /** what it says of itself instead */
  metadata: Readonly<Record<string, unknown>> | readonly unknown[] | string | null = {}
  /** what its UserInfo says; undefined: it has none */
  userInfo: Readonly<Record<string, unknown>> | number | undefined
  readonly requests: string[] = []
  #keys: readonly { readonly id: string; readonly key: KeyObject }[] = [newKey()]
  readonly #codes = new Map<string, Authorized>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor(port: number) {
    this.issuer = `http://127.0.0.1:${port}`
  }

  static async start(): Promise<StubProvider> {
    const probe = createServer().listen(0, '127.0.0.1')
    await once(probe, 'listening')
    const { port } = probe.address() as AddressInfo
    probe.close()
    await once(probe, 'close')
    const provider = new StubProvider(port)
    await once(provider.#server.listen(port, '127.0.0.1'), 'listening')
    return provider
  }

  /** What an operator states of it. */
  get settings(): ProviderSettings {
    return { issuer: new URL(this.issuer), clientId: CLIENT.id, clientSecret: CLIENT.secret, name: 'Acme SSO' }
  }

  /** Signs somebody in who was sent to an address. @returns the address that their browser returns to */
  authorize(address: string, claims: TokenClaims, tampering: Tampering = {}): string {
    const sent = new URL(address)
    const asked = (name: string) => sent.searchParams.get(name) ?? ''
    const code = randomBytes(16).toString('hex')
    const redirectUri = asked('redirect_uri')
    this.#codes.set(code, { nonce: asked('nonce'), challenge: asked('code_challenge'), redirectUri, claims, tampering })
    const back = new URL(redirectUri)
    for (const [name, value] of Object.entries({ code, state: asked('state'), ...tampering.answer })) back.searchParams.set(name, value)
    return back.href
  }

  /** From now on it signs with another key, and publishes only that. */
  rotateKey(): void {
    this.#keys = [newKey()]
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!
    this.requests.push(`${request.method} ${path}`)
    if (this.trouble === 'hangs') return
    if (this.trouble === 'drops') return void request.socket.destroy()
    if (this.trouble === 'errors') return void response.writeHead(500).end()
    if (this.trouble === 'no_json') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Maintenance</p>')
    const [status, body] = await this.#bodyOf(path, request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  async #bodyOf(path: string, request: IncomingMessage): Promise<[status: number, body: unknown]> {
    if (path === '/.well-known/openid-configuration') return [200, this.#metadata()]
    if (path === '/jwks')
      return [
        200,
        {
          keys: this.#keys.map(({ id, key }) => ({ ...createPublicKey(key).export({ format: 'jwk' }), kid: id, alg: 'RS256', use: 'sig' })),
        },
      ]
    if (path === '/userinfo') {
      if (request.headers.authorization !== 'Bearer an access token') return [401, {}]
      return typeof this.userInfo === 'number' ? [this.userInfo, {}] : [200, this.userInfo]
    }
    if (path !== '/token') return [404, {}]
    if (this.trouble === 'busy') return [429, { error: 'temporarily_unavailable' }]
    const form = new URLSearchParams(await text(request))
    const basic = `Basic ${Buffer.from(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret).replaceAll('%20', '+')}`).toString('base64')}`
    const isPosted = form.get('client_id') === CLIENT.id && form.get('client_secret') === CLIENT.secret
    if (this.takesSecretIn === 'body' ? !isPosted : request.headers.authorization !== basic) return [401, { error: 'invalid_client' }]
    const authorized = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (authorized === undefined || authorized.challenge !== challenge || authorized.redirectUri !== form.get('redirect_uri'))
      return [400, { error: 'invalid_grant' }]
    const id_token = authorized.tampering.isWithout ? undefined : this.#tokenOf(authorized)
    return [200, { access_token: 'an access token', token_type: 'Bearer', expires_in: 60, id_token }]
  }

  #metadata(): unknown {
    const { issuer, metadata } = this
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return metadata
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      ...(this.userInfo !== undefined && { userinfo_endpoint: `${issuer}/userinfo` }),
      ...metadata,
    }
  }

  #tokenOf({ nonce, claims, tampering }: Authorized): string {
    const [{ id, key }] = this.#keys as [{ id: string; key: KeyObject }]
    const now = Math.floor(Date.now() / 1000)
    const header = { alg: 'RS256', kid: id, ...tampering.header }
    const payload = { iss: this.issuer, aud: CLIENT.id, iat: now, exp: now + 300, nonce, ...claims, ...tampering.claims }
    const signed = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const signer = tampering.signature === 'other' ? newKey().key : key
    if (tampering.signature === 'secret') return `${signed}.${createHmac('sha256', CLIENT.secret).update(signed).digest('base64url')}`
    const signature = tampering.signature === 'none' ? '' : sign('RSA-SHA256', Buffer.from(signed), signer).toString('base64url')
    return `${signed}.${signature}`
  }
}

function newKey() {
  return { id: randomBytes(4).toString('hex'), key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey }
}
