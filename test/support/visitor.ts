import { setAccount } from '../../src/auth/accounts/sign-up.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { cheapPasswords, type Person, type Service } from './service.ts'

/** A response of the web app. */
export interface ReceivedPage {
  readonly status: number
  readonly headers: Headers
  /** the body: HTML, or the text of another content type */
  readonly text: string
  /** what a person reads of it, in one line */
  readonly shown: string
  /** the target of a redirect that was not followed */
  readonly location: string | null
  /** cookie name → its whole Set-Cookie line */
  readonly cookies: ReadonlyMap<string, string>
}

/** Differences from the request that a browser would send. A header of null is omitted. */
export interface RequestOptions {
  readonly headers?: Record<string, string | null>
  readonly method?: string
  readonly body?: string
}

/** Where a visitor reaches the service. */
export interface VisitorOptions {
  /** default: `http://localhost` */
  readonly origin?: string
  /** the path of the public URL, such as `/kanban`; default: none */
  readonly base?: string
  /** whether a proxy removes this path */
  readonly isStripped?: boolean
  /** default: one that nobody else has */
  readonly address?: string
}

export const PASSWORD = 'correct horse battery'
/** The browser of a session that a suite begins without a page, and its network. */
export const BROWSER = { agent: 'A browser', address: '192.0.2.1' } as const

let addresses = 0
const unusedAddress = () => `10.0.${addresses >> 8}.${addresses++ & 255}`

/**
 * A browser without rendering: it keeps cookies, submits forms with their hidden fields, and follows redirects. Each one has an address of
 * its own, so that they do not throttle each other.
 */
export class Visitor {
  readonly service: Service
  readonly jar = new Map<string, string>()
  readonly origin: string
  readonly base: string
  readonly isStripped: boolean
  address: string
  /** the current page */
  page: ReceivedPage | undefined

  constructor(
    service: Service,
    { origin = 'http://localhost', base = '', isStripped = false, address = unusedAddress() }: VisitorOptions = {},
  ) {
    this.service = service
    this.origin = origin
    this.base = base
    this.isStripped = isStripped
    this.address = address
  }

  /** Opens a page and follows its redirects. */
  async open(path: string): Promise<ReceivedPage> {
    let page = await this.request(path)
    for (let redirects = 0; page.location !== null; redirects++) {
      if (redirects > 5) throw new Error(`${path} redirects in a loop`)
      page = await this.request(page.location)
    }
    return (this.page = page)
  }

  /** Submits the form of the current page, as its button would. */
  async submit(fields: Record<string, string> = {}, action?: string): Promise<ReceivedPage> {
    const form = formOf(this.page!.text, action, this.base)
    const page = await this.post(form.action, { ...form.hidden, ...fields })
    return page.location === null ? (this.page = page) : this.open(page.location)
  }

  /** Sends a form without following a redirect. */
  post(path: string, fields: Record<string, string>, options: RequestOptions = {}): Promise<ReceivedPage> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: this.origin, 'sec-fetch-site': 'same-origin' }
    const body = String(new URLSearchParams(fields))
    return this.request(path, { method: 'POST', body, ...options, headers: { ...headers, ...options.headers } })
  }

  async request(path: string, { method = 'GET', body, headers = {} }: RequestOptions = {}): Promise<ReceivedPage> {
    const requestHeaders = new Headers({ 'x-forwarded-for': this.address })
    if (this.jar.size > 0) requestHeaders.set('cookie', this.cookie)
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) requestHeaders.delete(name)
      else requestHeaders.set(name, value)
    }
    const response = await this.service.app.fetch(
      new Request(this.#sent(path), { method, headers: requestHeaders, ...(body === undefined ? {} : { body }) }),
    )
    const cookies = new Map(response.headers.getSetCookie().map((line) => [line.slice(0, line.indexOf('=')), line]))
    for (const [name, line] of cookies) this.#store(name, line)
    const { status, headers: received } = response
    const [text, location] = [await response.text(), received.get('location')]
    return { status, headers: received, text, location, cookies, shown: textOf(text) }
  }

  /** The address that the service gets. @param path of a page, with the base or without; or a URL */
  #sent(path: string): URL {
    const url = new URL(path, this.origin)
    const { pathname } = url
    const inner = this.base !== '' && `${pathname}/`.startsWith(`${this.base}/`) ? pathname.slice(this.base.length) || '/' : pathname
    url.pathname = this.isStripped ? inner : this.base + inner
    return url
  }

  async signIn(email: string, password = PASSWORD): Promise<ReceivedPage> {
    await this.open('/settings/sign-in')
    return this.submit({ email, password }, '/settings/sign-in')
  }

  /** Fills in the form of a new token. @returns the page that asks for confirmation */
  async choose(workspaceId: string, { name = 'CI', scope = 'kanban:read', days = '30' } = {}): Promise<ReceivedPage> {
    await this.open(`/settings/tokens/new?workspace=${workspaceId}`)
    return this.submit({ name, scope, days }, '/settings/tokens/new')
  }

  /** Creates a token. @returns its plaintext */
  async create(workspaceId: string, options: { name?: string; scope?: string; days?: string } = {}): Promise<string> {
    await this.choose(workspaceId, options)
    return plaintextIn(await this.submit({}, '/settings/confirm'))
  }

  /** the token that the forms of the current page have */
  get formToken(): string {
    return /name="form_token" value="([^"]+)"/.exec(this.page!.text)![1]!
  }

  async isSignedIn(): Promise<boolean> {
    return (await this.request('/settings/account')).status === 200
  }

  /** The ids of the active tokens of the person. */
  async tokenIds(): Promise<string[]> {
    return [...(await this.open('/settings/tokens')).text.matchAll(/\/(tok_\w+)\/rotate"/g)].map(([, id]) => id!)
  }

  /** the Cookie header of its requests */
  get cookie(): string {
    return [...this.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  get session(): string | undefined {
    const prefix = this.base === '' ? '__Host-' : '__Secure-'
    return this.jar.get(`${this.origin.startsWith('https:') ? prefix : ''}lk_session`)
  }

  #store(name: string, line: string): void {
    // A browser would not send it, or would send it to other programs too.
    if (name.includes('lk_') && !line.includes(`; Path=${this.base || '/'};`)) throw new Error(`${name} has another path: ${line}`)
    if (/; Max-Age=0(;|$)/.test(line)) this.jar.delete(name)
    else this.jar.set(name, /^[^=]*=([^;]*)/.exec(line)![1]!)
  }
}

/** A visitor of a service in another process. */
export function visitorOf(origin: string): Visitor {
  const fetchManually = (request: Request) => fetch(request, { redirect: 'manual' })
  return new Visitor({ app: { fetch: fetchManually } } as never, { origin })
}

/** Gives a person an e-mail address and a password. @returns the e-mail address */
export async function giveAccount(service: Service, person: Pick<Person, 'id'>, email = `${person.id}@example.org`): Promise<string> {
  const passwordHash = await cheapPasswords.hash(PASSWORD)
  await service.write(GLOBAL, (tx) => setAccount(tx, { userId: person.id, email, passwordHash }, service.deps.clock))
  return email
}

/** Signs a person in. */
export async function signedIn(service: Service, person: Pick<Person, 'id'>, at: VisitorOptions = {}): Promise<Visitor> {
  const email = await giveAccount(service, person)
  const visitor = new Visitor(service, at)
  await visitor.signIn(email)
  return visitor
}

/** The forms that are on every page of a person who is signed in. */
const ON_EVERY_PAGE = new Set(['/settings/sign-out', '/settings/account/alerts'])

/** Returns the action and the hidden fields of a form: the first one whose action begins with `action`, below the path of the public URL. */
export function formOf(html: string, action = '', base = ''): { action: string; hidden: Record<string, string> } {
  const form = [...html.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].find(
    ([, target]) => target!.startsWith(base + action) && (action !== '' || !ON_EVERY_PAGE.has(target!.slice(base.length))),
  )
  if (form === undefined) throw new Error(`no form${action && ` to ${action}`} on: ${textOf(html)}`)
  const hidden = [...form[2]!.matchAll(/<input type="hidden" name="([^"]*)" value(?:="([^"]*)")?/g)].map(
    ([, name, value = '']) => [name!, decoded(value)] as const,
  )
  return { action: form[1]!, hidden: Object.fromEntries(hidden) }
}

/** Returns what a page says about an account, above its content; undefined: nothing. */
export function alertsOf({ text }: ReceivedPage): string | undefined {
  return /<section class="card alerts".*?<\/section>/s.exec(text)?.[0]
}

/** Returns the visible text of a page in one line. */
export function textOf(html: string): string {
  const text = html
    .replace(/<head>.*?<\/head>/s, '')
    .replace(/<\/?bdi>/g, '')
    .replace(/<[^>]*>/g, ' ')
  return decoded(text)
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,.])/g, '')
    .trim()
}

/** Returns what a text of HTML without tags stands for. */
export function decoded(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" }
  return text.replace(/&(lt|gt|quot|amp|#39);/g, (_all, name: string) => named[name]!)
}

/** Returns the token plaintext on a page. */
export function plaintextIn(page: ReceivedPage): string {
  const plaintext = /<code id="plaintext"[^>]*>([^<]*)</.exec(page.text)?.[1]
  if (plaintext === undefined) throw new Error(`no token on a page with the status ${page.status}: ${textOf(page.text)}`)
  return plaintext
}
