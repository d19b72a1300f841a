import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { JWKS } from 'oidc-provider'
import { freePort } from './ports.ts'

/** With characters that a client has to encode in its header. */
const CLIENT = { id: 'lanekeeper', secret: 'a client secret: 100% of tests + more' } as const

/** What the provider says of the person who has typed a name. */
export interface ProviderAccount {
  readonly email: string
  readonly email_verified: boolean
}

/**
 * `oidc-provider`, the certified implementation, on a loopback address: the oracle of the protocol. Its development pages ask for a name and any
 * password, and then for consent. The name is the subject.
 */
export class RealProvider {
  readonly issuer: string
  readonly client = CLIENT
  readonly #answer: RequestListener
  readonly #restoreConsole: () => void
  #server: Server | undefined

  private constructor(issuer: string, answer: RequestListener, restoreConsole: () => void) {
    this.issuer = issuer
    this.#answer = answer
    this.#restoreConsole = restoreConsole
  }

  /** @param accountOf by the name that was typed */
  static async start(redirectUri: string, accountOf: (name: string) => ProviderAccount): Promise<RealProvider> {
    const restoreConsole = silence()
    const { Provider } = await import('oidc-provider')
    const issuer = `http://127.0.0.1:${await freePort()}`
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [redirectUri],
          post_logout_redirect_uris: [redirectUri.replace(/callback$/, 'signed-out')],
        },
      ],
      pkce: { required: () => true },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      findAccount: (_context, name) => ({ accountId: name, claims: () => ({ sub: name, ...accountOf(name) }) }),
      features: { devInteractions: { enabled: true } },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      jwks: newKeys(),
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 3600, IdToken: 60, Interaction: 600, Session: 3600 },
    })
    provider.use(async (context, next) => {
      await next()
      // Its pages would load a font from the internet.
      if (typeof context.body === 'string') context.body = context.body.replace(/@import url\([^)]*\);/, '')
    })
    const answer = provider.callback()
    const started = new RealProvider(issuer, (request, response) => void answer(request, response), restoreConsole)
    await started.resume()
    return started
  }

  /** Listens again, and knows what it knew before. */
  async resume(): Promise<void> {
    this.#server = createServer(this.#answer).listen(Number(new URL(this.issuer).port), '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Cannot be reached until it resumes. */
  async pause(): Promise<void> {
    const closed = this.#server && once(this.#server, 'close')
    this.#server?.close()
    this.#server?.closeAllConnections()
    await closed
    this.#server = undefined
  }

  async stop(): Promise<void> {
    await this.pause()
    this.#restoreConsole()
  }
}

function newKeys(): JWKS {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  return { keys: [{ ...key, use: 'sig', alg: 'RS256', kid: randomBytes(4).toString('hex') }] } as JWKS
}

/** Drops what the library prints about its being no production configuration. @returns undoes it */
function silence(): () => void {
  const { info, warn } = console
  const without =
    (print: typeof info): typeof info =>
    (...texts) => {
      if (!String(texts[0]).includes('oidc-provider ')) print(...texts)
    }
  Object.assign(console, { info: without(info), warn: without(warn) })
  return () => void Object.assign(console, { info, warn })
}
