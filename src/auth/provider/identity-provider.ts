import type * as OpenIdClient from 'openid-client'
import { emailAddress } from '../../model/account.ts'
import { lazy } from '../../model/lazy.ts'
import { subject as subjectOf } from '../../model/identity.ts'
import { MINUTE, type Clock } from '../../model/time.ts'
import { fetchLimited } from './limited-fetch.ts'

/** How long the provider is waited for, in seconds, and by how much its clock may differ. */
const [TIMEOUT, TOLERANCE] = [10, 30]
/** The greatest age of an authentication that counts as a proof, in milliseconds (src/auth/identity-provider.md, "Proving it again"). */
const RECENT = 5 * MINUTE
/** For how long what the provider says of itself is kept. Its keys are fetched again when one is missing, at most once a minute. */
const DISCOVERY_AGE = 10 * MINUTE
/** How long after a failure it is not asked again, in milliseconds. */
const RETRY = 5000
/** What is asked of a provider, and where its own document says. */
const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const

/** How this service proves to the provider who it is. */
export const authMethods = ['client_secret_basic', 'client_secret_post'] as const

/** What an operator states of the provider. */
export interface ProviderSettings {
  readonly issuer: URL
  readonly clientId: string
  readonly clientSecret: string
  /** default: the first one that the provider offers */
  readonly authMethod?: (typeof authMethods)[number] | undefined
  /** the text of the button */
  readonly name: string
}

/** What a sign-in in progress is recognized by: secrets of one browser, for one attempt. */
export interface SignInSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The person who has signed in at the provider. */
export interface Claims {
  readonly issuer: string
  readonly subject: string
  /** normalized; undefined unless the provider has verified it */
  readonly email: string | undefined
  /** whether the provider has told an address, verified or not */
  readonly hasEmail: boolean
  /** when they have authenticated, in milliseconds since 1970; undefined: that is not known, or not recent */
  readonly provedAt: number | undefined
}

/** The answer of the provider was not accepted. The message is for the log, and has no secret. */
export class RefusedAnswer extends Error {
  override readonly name = 'RefusedAnswer'
  /** the code that the provider has given as the reason, such as `access_denied`; undefined: it was refused here */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/** The provider cannot be reached, or what it says of itself makes no sense. The message is for the log. */
export class UnreachableProvider extends Error {
  override readonly name = 'UnreachableProvider'
}

const library = lazy(() => import('openid-client'))

/** An OpenID Connect provider: authorization code, PKCE, `state` and `nonce` (src/auth/identity-provider.md, "Five steps"). */
export class IdentityProvider {
  readonly name: string
  readonly #settings: ProviderSettings
  readonly #clock: Clock
  readonly #timeout: number
  #discovered: { readonly configuration: Promise<OpenIdClient.Configuration>; until: number } | undefined

  /** @param timeout how long an answer of it is waited for, in seconds */
  constructor(settings: ProviderSettings, clock: Clock, timeout = TIMEOUT) {
    this.name = settings.name
    this.#settings = settings
    this.#clock = clock
    this.#timeout = timeout
  }

  /**
   * Where a browser is sent to.
   * @param isProof whether the person has to authenticate again, also if the provider knows them
   * @throws {UnreachableProvider}
   */
  async begin({ state, nonce, verifier }: SignInSecrets, redirectUri: string, isProof: boolean): Promise<string> {
    const client = await library()
    const address = client.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: redirectUri,
      scope: 'openid email',
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(isProof && { max_age: '0' }),
    })
    return address.href
  }

  /**
   * Takes the answer that a browser has brought.
   * @param answer the address that it was sent to
   * @param isBound whether somebody is bound to an identity: then no address is needed, so UserInfo is not asked
   * @throws {RefusedAnswer}
   * @throws {UnreachableProvider}
   */
  async finish(
    { state, nonce, verifier }: SignInSecrets,
    answer: URL,
    isProof: boolean,
    isBound: (identity: Pick<Claims, 'issuer' | 'subject'>) => Promise<boolean>,
  ): Promise<Claims> {
    const client = await library()
    const configuration = await this.#discover()
    // Stryker disable next-line BooleanLiteral: the library expects an ID token for its nonce anyway
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
    const tokens = await client.authorizationCodeGrant(configuration, answer, checks).catch((error: unknown) => {
      throw toFailure(error)
    })
    const claims = tokens.claims()!
    const { iss: issuer, sub: subject } = claims
    if (!subjectOf.safeParse(subject).success) throw new RefusedAnswer('the subject is empty, too long, or no text')
    const provedAt = this.#recentTime(claims.auth_time)
    if (isProof && provedAt === undefined)
      throw new RefusedAnswer('the authentication is not recent, or the provider does not say when it was')
    // The address and the statement about it come from the same source.
    const told =
      hasEmail(claims) || (await isBound({ issuer, subject }))
        ? claims
        : await this.#askUserInfo(configuration, tokens.access_token, subject)
    return { issuer, subject, email: verifiedEmail({ ...told, iss: issuer }), hasEmail: hasEmail(told), provedAt }
  }

  /**
   * Asks UserInfo for claims that the ID token lacks. The library refuses an answer about another subject.
   * @returns {} if the provider has no such endpoint
   */
  async #askUserInfo(
    configuration: OpenIdClient.Configuration,
    token: string,
    subject: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { issuer } = this.#settings
    const endpoint = configuration.serverMetadata().userinfo_endpoint
    if (endpoint === undefined) return {}
    if (!isAddress(endpoint, issuer.protocol)) throw new UnreachableProvider('what it says of itself has no valid userinfo_endpoint')
    const client = await library()
    return client.fetchUserInfo(configuration, token, subject).catch((error: unknown) => {
      throw toFailure(error)
    })
  }

  /**
   * Where a browser ends the session of its person at the provider (OpenID Connect RP-Initiated Logout). The provider may ask them first:
   * it gets no ID token, because none is kept, which has personal data and is taken for a credential by some programs.
   * @param returnTo where the provider sends the browser then
   * @returns undefined: the provider does not offer it
   * @throws {UnreachableProvider}
   */
  async endSession(returnTo: string): Promise<string | undefined> {
    const configuration = await this.#discover()
    if (!isAddress(configuration.serverMetadata().end_session_endpoint, this.#settings.issuer.protocol)) return undefined
    const client = await library()
    return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo }).href
  }

  #recentTime(authTime: unknown): number | undefined {
    if (typeof authTime !== 'number') return undefined
    const age = this.#clock() - authTime * 1000
    return age < RECENT && age >= -TOLERANCE * 1000 ? Math.min(authTime * 1000, this.#clock()) : undefined
  }

  /** Reads what the provider says of itself, once for all who come at the same time. */
  #discover(): Promise<OpenIdClient.Configuration> {
    const now = this.#clock()
    if (this.#discovered !== undefined && now < this.#discovered.until) return this.#discovered.configuration
    const configuration = this.#read().catch((error: unknown) => {
      // Nobody has answered anything yet: whatever fails here is the provider's.
      throw new UnreachableProvider(reasonOf(error))
    })
    const discovered = { configuration, until: now + DISCOVERY_AGE }
    this.#discovered = discovered
    // A request right after a failure does not wait for another one.
    configuration.catch(() => (discovered.until = this.#clock() + RETRY))
    return configuration
  }

  async #read(): Promise<OpenIdClient.Configuration> {
    const { issuer, clientId, clientSecret, authMethod } = this.#settings
    const client = await library()
    const insecure = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []
    const options = { execute: insecure, timeout: this.#timeout, [client.customFetch]: fetchLimited }
    const found = await client.discovery(issuer, clientId, undefined, client.None(), options)
    const server = found.serverMetadata()
    for (const name of ENDPOINTS)
      if (!isAddress(server[name], issuer.protocol)) throw new Error(`what it says of itself has no valid ${name}`)
    const offered: readonly string[] = server.token_endpoint_auth_methods_supported ?? authMethods
    const method = authMethod ?? authMethods.find((one) => offered.includes(one))
    if (method === undefined) throw new Error(`it takes no client secret: neither ${authMethods.join(' nor ')}`)
    const authentication = method === 'client_secret_basic' ? client.ClientSecretBasic(clientSecret) : client.ClientSecretPost(clientSecret)
    const configuration = new client.Configuration(server, clientId, { [client.clockTolerance]: TOLERANCE }, authentication)
    configuration.timeout = this.#timeout
    configuration[client.customFetch] = fetchLimited
    for (const allow of insecure) allow(configuration)
    // Without this, an ID token that came by TLS from the provider would be trusted without a look at its signature.
    client.enableNonRepudiationChecks(configuration)
    return configuration
  }
}

/** Whether an address of the provider can be used: with TLS, unless the provider itself is without. */
function isAddress(text: string | undefined, protocol: string): boolean {
  return URL.canParse(text ?? '') && ['https:', protocol].includes(new URL(text!).protocol)
}

/** Some providers state an address that they do not have as null or as an empty text. */
function hasEmail({ email }: Readonly<Record<string, unknown>>): boolean {
  return typeof email === 'string' && email.trim() !== ''
}

/** Microsoft's issuers say it with a claim of their own. */
const MICROSOFT = 'https://login.microsoftonline.com/'

/**
 * The address of a person that the provider has verified. Addresses are compared with those that people have typed: what is folded into
 * ASCII would be somebody else's.
 * @returns undefined if it does not exist
 */
export function verifiedEmail({ iss, email, email_verified, xms_edov }: Readonly<Record<string, unknown>>): string | undefined {
  const isTrue = (claim: unknown) => claim === true || claim === 'true' || claim === 1 || claim === '1'
  const isVerified = isTrue(email_verified) || (String(iss).startsWith(MICROSOFT) && isTrue(xms_edov))
  return isVerified && typeof email === 'string' && /^[\x21-\x7e]+$/.test(email) ? emailAddress.safeParse(email).data : undefined
}

/** The codes of the library that are no fault of the answer. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
])

/** Tells a provider that cannot be reached from an answer that is not accepted. */
function toFailure(error: unknown): Error {
  const { code, status, error: reason } = error as { readonly code?: string; readonly status?: number; readonly error?: string }
  const isBusy = status !== undefined && (status === 429 || status >= 500)
  if (code === undefined || UNREACHABLE.has(code) || isBusy) return new UnreachableProvider(reasonOf(error))
  return new RefusedAnswer(reasonOf(error), typeof reason === 'string' && /^[a-z_]{1,40}$/.test(reason) ? reason : undefined)
}

/** For the log. The texts of the library and of the network contain no part of an answer; a parser's texts do. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error && !(cause instanceof SyntaxError) ? `${message}: ${cause.message}` : message
}
