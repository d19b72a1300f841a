import { setAccount } from '../../src/auth/accounts/sign-up.ts'
import { GLOBAL } from '../../src/store/keys.ts'
import { cheapPasswords, type Person, type Service } from './service.ts'

/** A page as a person's browser has it. */
export interface PageSeen {
  readonly status: number
  readonly headers: Headers
  /** the HTML, or what came instead */
  readonly text: string
  /** where it leads to, with a redirect that was not followed */
  readonly location: string | null
  /** what it set, by the name of the cookie: the whole Set-Cookie line */
  readonly cookies: ReadonlyMap<string, string>
}

/** How a form is sent, where that is to be another way than a browser's. A header of null is left out. */
export interface Sending {
  readonly headers?: Record<string, string | null>
  readonly method?: string
  readonly body?: string
}

export const PASSWORD = 'correct horse battery'

/** A browser without a screen: cookies, forms with what is hidden in them, redirects. */
export class Visitor {
  readonly service: Service
  readonly jar = new Map<string, string>()
  readonly origin: string
  address: string
  /** the page that it shows */
  shown: PageSeen | undefined

  constructor(service: Service, { origin = 'http://localhost', address = '192.0.2.1' } = {}) {
    this.service = service
    this.origin = origin
    this.address = address
  }

  /** Asks for a page, and follows where it leads to. */
  async open(path: string): Promise<PageSeen> {
    let page = await this.request(path)
    for (let hops = 0; page.location !== null; hops++) {
      if (hops > 5) throw new Error(`${path} leads in circles`)
      page = await this.request(page.location)
    }
    return (this.shown = page)
  }

  /** Fills in the form of the page that is shown and sends it, as its button would. */
  async submit(fields: Record<string, string> = {}, action?: string): Promise<PageSeen> {
    const form = formOf(this.shown!.text, action)
    const page = await this.post(form.action, { ...form.hidden, ...fields })
    return page.location === null ? (this.shown = page) : this.open(page.location)
  }

  /** Sends a form, and does not follow where it leads to. */
  post(path: string, fields: Record<string, string>, sending: Sending = {}): Promise<PageSeen> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: this.origin, 'sec-fetch-site': 'same-origin' }
    const body = String(new URLSearchParams(fields))
    return this.request(path, { method: 'POST', body, ...sending, headers: { ...headers, ...sending.headers } })
  }

  async request(path: string, { method = 'GET', body, headers = {} }: Sending = {}): Promise<PageSeen> {
    const all = new Headers({ 'x-forwarded-for': this.address })
    if (this.jar.size > 0) all.set('cookie', [...this.jar].map(([name, value]) => `${name}=${value}`).join('; '))
    for (const [name, value] of Object.entries(headers)) {
      if (value === null) all.delete(name)
      else all.set(name, value)
    }
    const response = await this.service.app.fetch(
      new Request(new URL(path, this.origin), { method, headers: all, ...(body === undefined ? {} : { body }) }),
    )
    const cookies = new Map(response.headers.getSetCookie().map((line) => [line.slice(0, line.indexOf('=')), line]))
    for (const [name, line] of cookies) this.#keep(name, line)
    const { status, headers: answered } = response
    return { status, headers: answered, text: await response.text(), location: answered.get('location'), cookies }
  }

  async signIn(email: string, password = PASSWORD): Promise<PageSeen> {
    await this.open('/settings/sign-in')
    return this.submit({ email, password }, '/settings/sign-in')
  }

  /** Chooses a token, up to the page that asks for confirmation. */
  async choose(workspaceId: string, { name = 'CI', scope = 'kanban:read', days = '30' } = {}): Promise<PageSeen> {
    await this.open(`/settings/tokens/new?workspace=${workspaceId}`)
    return this.submit({ name, scope, days }, '/settings/tokens/new')
  }

  /** Makes a token. @returns its plaintext and id */
  async create(workspaceId: string, chosen: { name?: string; scope?: string; days?: string } = {}): Promise<string> {
    await this.choose(workspaceId, chosen)
    return plaintextIn(await this.submit({}, '/settings/confirm'))
  }

  get session(): string | undefined {
    return this.jar.get(`${this.origin.startsWith('https:') ? '__Host-' : ''}lk_session`)
  }

  #keep(name: string, line: string): void {
    if (/; Max-Age=0(;|$)/.test(line)) this.jar.delete(name)
    else this.jar.set(name, line.slice(name.length + 1, line.indexOf(';')))
  }
}

/** Gives a person what to sign in with. @returns the e-mail address */
export async function giveAccount(service: Service, person: Pick<Person, 'id'>, email = `${person.id}@example.org`): Promise<string> {
  const passwordHash = await cheapPasswords.hash(PASSWORD)
  await service.write(GLOBAL, (tx) => setAccount(tx, { userId: person.id, email, passwordHash }, service.deps.clock))
  return email
}

let addresses = 0

/** A person who is signed in, with the browser; from an address of its own, so that nobody slows down another. */
export async function signedIn(service: Service, person: Pick<Person, 'id'>, { origin = 'http://localhost' } = {}): Promise<Visitor> {
  const email = await giveAccount(service, person)
  const visitor = new Visitor(service, { origin, address: `198.51.100.${addresses++}` })
  await visitor.signIn(email)
  return visitor
}

/** A form of a page: where it goes to, and what is hidden in it. */
export function formOf(html: string, action = ''): { action: string; hidden: Record<string, string> } {
  const form = [...html.matchAll(/<form[^>]* action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].find(
    ([, at]) => at!.startsWith(action) && (action !== '' || at !== '/settings/sign-out'),
  )
  if (form === undefined) throw new Error(`there is no form to ${action || 'anywhere'} on: ${textOf(html)}`)
  const hidden = [...form[2]!.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])
  return { action: form[1]!, hidden: Object.fromEntries(hidden) }
}

/** What a person reads on a page, in one line. */
export function textOf(html: string): string {
  const text = html.replace(/<head>.*?<\/head>/s, '').replace(/<[^>]*>/g, ' ')
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', amp: '&', '#39': "'" }
  return text
    .replace(/&(lt|gt|quot|amp|#39);/g, (_all, name: string) => named[name]!)
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,.])/g, '')
    .trim()
}

/** The plaintext that a page shows. */
export function plaintextIn(page: PageSeen): string {
  const found = /<code id="plaintext"[^>]*>([^<]*)</.exec(page.text)?.[1]
  if (found === undefined) throw new Error(`no token is shown, but ${page.status}: ${textOf(page.text)}`)
  return found
}
