import { expect, onTestFinished } from 'vitest'
import { disableUser, inviteUser, resetSecondFactor, signOutUser } from '../../src/admin/users.ts'
import { endMembership } from '../../src/admin/memberships.ts'
import { beginSession } from '../../src/auth/accounts/sessions.ts'
import { rotateToken } from '../../src/auth/tokens/issue.ts'
import { sha256Hex } from '../../src/auth/secrets.ts'
import { DAY, HOUR, MINUTE } from '../../src/model/time.ts'
import { GLOBAL, keys } from '../../src/store/keys.ts'
import { TestBoard } from './board.ts'
import { EventReader } from './event-reader.ts'
import { memory } from './memory.ts'
import { edit } from './other-policy.ts'
import { load, shippedFiles } from './policy.ts'
import { Service, type Person } from './service.ts'
import { BROWSER, PASSWORD, signedIn, Visitor } from './visitor.ts'

/** The policy that gives only the creator of a private board access to it. */
const creatorsOnly = load(
  edit(shippedFiles, [
    [
      'permissions',
      'board.caller: { $in: [creator, member] } }\n    reason: Only the creator and the explicit members have',
      'board.caller: creator }\n    reason: Only the creator has',
    ],
  ]),
)

/** A board of Ann, with Bob, who has access to it and follows it. */
export class Scene {
  readonly service: Service
  readonly ann: Person
  readonly bob: Person
  readonly board: TestBoard
  readonly cardId: string
  /** a token of Bob, which expires after 20 minutes: an idle session lasts longer */
  readonly token: string
  /** the browser that follows the board */
  readonly browser: Visitor
  /** another browser of Bob */
  readonly other: Visitor

  private constructor(parts: Omit<Scene, 'change' | 'open'>) {
    ;({ service: this.service, ann: this.ann, bob: this.bob, board: this.board, cardId: this.cardId } = parts)
    ;({ token: this.token, browser: this.browser, other: this.other } = parts)
  }

  /** Bob is an explicit member of a private board. @param shared for all ways that end no more than one access */
  static async begin(shared: Service, { visibility = 'private', hasOwnService }: Partial<Way> = {}): Promise<Scene> {
    const service = hasOwnService === true ? await Service.start(memory) : shared
    if (hasOwnService === true) onTestFinished(() => service.stop())
    // Earlier sign-ins do not count any more.
    service.now += HOUR
    const workspaceId = await service.workspace()
    const [ann, bob] = [await service.person(workspaceId, 'owner'), await service.person(workspaceId)]
    const board = await TestBoard.create(service, ann, visibility)
    if (visibility === 'private') await board.add(bob)
    const cardId = await board.card(await board.column())
    const token = await service.token(workspaceId, bob.id, ['kanban:read'], 20 * MINUTE)
    const browser = await signedIn(service, bob)
    const other = new Visitor(service, { address: '192.0.2.99' })
    await other.signIn(`${bob.id}@example.org`)
    return new Scene({ service, ann, bob, board, cardId, token, browser, other })
  }

  /** Ann changes the board. */
  async change(title: string): Promise<void> {
    await this.board.patch(`/cards/${this.cardId}`, { title })
  }

  /** Opens the stream of Bob. @param after 'now': without the changes so far */
  async open(surface: Surface, after: 'begin' | 'now' = 'now', browser = this.browser): Promise<EventReader> {
    const changes = await this.board.get(`/boards/${this.board.id}/changes`)
    const query = after === 'now' ? `after=${changes.body.page.next_cursor}` : ''
    const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const { path, headers } = streamOf(surface, this, cookie)
    const stream = new EventReader(await this.service.app.fetch(new Request(`http://localhost${path}&${query}`, { headers })))
    expect(stream.response.status).toBe(200)
    onTestFinished(() => stream.close())
    // The first event of the web app says by what the page is decided.
    if (surface === 'the web app' && after === 'now') await stream.take(1)
    return stream
  }
}

export type Surface = 'the API' | 'the web app'
export const surfaces: readonly Surface[] = ['the API', 'the web app']

export function streamOf(
  surface: Surface,
  { bob, board, token }: Scene,
  cookie: string,
): { path: string; headers: Record<string, string> } {
  if (surface === 'the API') return { path: `/v1/boards/${board.id}/events?`, headers: { authorization: `Bearer ${token}` } }
  return { path: `/app/${bob.workspaceId}/events?board=${board.id}`, headers: { cookie } }
}

/** How a stream ends: with an error, without one, or not at all. */
export type End = 'unauthorized' | 'not_found' | 'without an error' | 'goes on'

/** A way for access to end. */
export interface Way {
  readonly when: string
  readonly ends: Readonly<Record<Surface, End>>
  /** default: private */
  readonly visibility?: 'workspace' | 'private'
  readonly hasOwnService?: true
  /** it consists of two commits, and a look between them ends the stream like this */
  readonly orEnds?: End
  /** a look that is in progress goes on as it began */
  readonly isForNextLook?: true
  /** it is only a time that passes */
  readonly isTime?: true
  /** no change follows */
  readonly isLast?: true
  readonly end: (scene: Scene) => unknown
}

const both = (end: End): Way['ends'] => ({ 'the API': end, 'the web app': end })
const ofToken: Way['ends'] = { 'the API': 'unauthorized', 'the web app': 'goes on' }
const ofSession: Way['ends'] = { 'the API': 'goes on', 'the web app': 'unauthorized' }

/** Changes the session of the browser that follows the board. */
const touch = ({ service, browser }: Scene): Promise<void> =>
  service.write(GLOBAL, async (tx) => {
    const key = keys.session(sha256Hex(browser.session!))
    tx.put(key, { ...(await tx.get(key))!, seen_at: new Date(service.now).toISOString() })
  })

export const ways: readonly Way[] = [
  {
    when: 'the token is revoked',
    ends: ofToken,
    end: ({ service, token }) =>
      service.app.fetch(new Request('http://localhost/revoke', { method: 'POST', body: new URLSearchParams({ token }) })),
  },
  { when: 'the token expires', ends: ofToken, isTime: true, end: ({ service }) => void (service.now += 20 * MINUTE) },
  {
    when: 'the token is rotated',
    ends: ofToken,
    end: ({ service, bob, token }) =>
      service.write(bob.workspaceId, async (tx) => {
        const { id } = (await tx.get(keys.token(sha256Hex(token))))!
        await rotateToken(tx, { userId: bob.id, tokenId: id, lifetime: HOUR }, service.deps)
      }),
  },
  {
    when: 'the person signs out',
    ends: ofSession,
    async end({ browser }) {
      await browser.open('/settings/tokens')
      await browser.submit({ where: 'here' }, '/settings/sign-out')
    },
  },
  {
    when: 'the person signs out everywhere, in another browser',
    ends: ofSession,
    async end({ other }) {
      await other.open('/settings/tokens')
      await other.submit({ where: 'everywhere' }, '/settings/sign-out')
    },
  },
  {
    when: 'the session is ended in another browser',
    ends: ofSession,
    async end({ other }) {
      const { text } = await other.open('/settings/account')
      await other.submit({ end: /name="end" value="([^"]+)">End</.exec(text)![1]! }, '/settings/account/sessions')
    },
  },
  {
    when: 'all other sessions are ended in another browser',
    ends: ofSession,
    async end({ other }) {
      await other.open('/settings/account')
      await other.submit({ end: 'others' }, '/settings/account/sessions')
    },
  },
  ...(['browser', 'other'] as const).map((which): Way => ({
    when: `the password is changed in ${which === 'other' ? 'another browser' : 'this browser, whose cookie is replaced'}`,
    ends: ofSession,
    async end(scene) {
      await scene[which].open('/settings/account/password')
      const password = 'another horse battery'
      await scene[which].submit({ present: PASSWORD, password, again: password }, '/settings/account/password')
    },
  })),
  {
    when: 'a sign-up link replaces the password',
    ends: ofSession,
    async end({ service, bob }) {
      const { sign_up_link } = await inviteUser(service.deps, bob.id, 'http://localhost')
      const visitor = new Visitor(service, { address: '192.0.2.98' })
      await visitor.open(sign_up_link)
      await visitor.submit({ email: `${bob.id}@example.org`, password: 'another horse battery', again: 'another horse battery' })
    },
  },
  {
    when: 'the session is idle for too long',
    ends: both('unauthorized'),
    isTime: true,
    end: ({ service }) => void (service.now += 7 * DAY),
  },
  {
    when: 'the session is used, and too old',
    ends: both('unauthorized'),
    isTime: true,
    async end(scene) {
      for (let days = 0; days < 30; days += 6) {
        scene.service.now += 6 * DAY - (days === 24 ? 1 : 0)
        await touch(scene)
      }
      scene.service.now += 1
    },
  },
  {
    when: 'the person has more sessions than are kept',
    ends: ofSession,
    end: ({ service, bob }) =>
      service.write(GLOBAL, async (tx) => {
        service.now++
        for (let i = 0; i < 20; i++) await beginSession(tx, { user_id: bob.id, email: 'bob@example.org', ...BROWSER }, service.deps)
      }),
  },
  { when: 'the operator signs the person out', ends: ofSession, end: ({ service, bob }) => signOutUser(service.deps, bob.id) },
  { when: 'the operator resets the second factor', ends: ofSession, end: ({ service, bob }) => resetSecondFactor(service.deps, bob.id) },
  {
    when: 'the operator disables the user',
    ends: { 'the API': 'unauthorized', 'the web app': 'not_found' },
    orEnds: 'unauthorized',
    end: ({ service, bob }) => disableUser(service.deps, bob.id),
  },
  {
    when: 'the membership ends',
    ends: { 'the API': 'unauthorized', 'the web app': 'not_found' },
    end: ({ service, bob }) => endMembership(service.deps, bob.workspaceId, bob.id),
  },
  {
    when: 'the membership ends, and the tokens remain',
    ends: { 'the API': 'unauthorized', 'the web app': 'not_found' },
    end: ({ service, bob }) => service.leaveOnly(bob.workspaceId, bob.id),
  },
  { when: 'the board becomes private', ends: both('not_found'), visibility: 'workspace', end: ({ board }) => board.makePrivate() },
  {
    when: 'the person is removed from the board',
    ends: both('not_found'),
    end: ({ board, bob }) => board.delete(`/boards/${board.id}/members/${bob.id}`),
  },
  { when: 'the board is deleted', ends: both('not_found'), isLast: true, end: ({ board }) => board.delete(`/boards/${board.id}`) },
  {
    when: 'the policy is replaced by one that gives no access',
    ends: both('not_found'),
    hasOwnService: true,
    isForNextLook: true,
    end: ({ service }) =>
      service.app.replacePolicy(creatorsOnly, { hash: creatorsOnly.hash, proof: { ...service.app.proof, failures: [] } }),
  },
  {
    when: 'the service stops',
    ends: both('without an error'),
    hasOwnService: true,
    isForNextLook: true,
    end: ({ service }) => service.app.stop(),
  },
]
