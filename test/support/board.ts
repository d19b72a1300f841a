import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Driver } from './drivers.ts'
import type { Key } from '../../src/store/keys.ts'
import { png } from './pictures.ts'
import { Service, type Person, type Reply, type ServiceOptions } from './service.ts'

/** A board and its creator, who sends the requests. */
export class TestBoard {
  readonly service: Service
  readonly creator: Person
  readonly id: string

  private constructor(service: Service, creator: Person, id: string) {
    this.service = service
    this.creator = creator
    this.id = id
  }

  static async create(service: Service, creator: Person, visibility: 'workspace' | 'private' = 'workspace'): Promise<TestBoard> {
    const reply = requireSuccess(await service.send(creator.admin, 'POST', '/boards', { name: 'Board' }))
    const board = new TestBoard(service, creator, reply.body.data.id)
    if (visibility === 'private') await board.makePrivate()
    return board
  }

  /** Sends a request as the creator. It may fail. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.service.send(this.creator.admin, method, path, body, headers)
  }
  get(path: string): Promise<Reply> {
    return this.send('GET', path)
  }

  // These requests must succeed.
  async put(path: string, body?: unknown): Promise<Reply> {
    return requireSuccess(await this.send('PUT', path, body))
  }
  async post(path: string, body?: unknown): Promise<Reply> {
    return requireSuccess(await this.send('POST', path, body))
  }
  async patch(path: string, body?: unknown): Promise<Reply> {
    return requireSuccess(await this.send('PATCH', path, body))
  }
  async delete(path: string): Promise<Reply> {
    return requireSuccess(await this.send('DELETE', path))
  }

  // These create a resource and return its id.
  async column(name = 'Column', placement: object = {}): Promise<string> {
    return (await this.post(`/boards/${this.id}/columns`, { name, ...placement })).body.data.id
  }
  async card(columnId: string, title = 'Card', members: object = {}): Promise<string> {
    return (await this.post(`/boards/${this.id}/cards`, { column_id: columnId, title, ...members })).body.data.id
  }
  async label(name = 'Label'): Promise<string> {
    return (await this.post(`/boards/${this.id}/labels`, { name, color: '#123456' })).body.data.id
  }
  async subtask(cardId: string, title = 'Subtask', members: object = {}): Promise<string> {
    return (await this.post(`/cards/${cardId}/subtasks`, { title, ...members })).body.data.id
  }
  async comment(cardId: string, body = 'Comment'): Promise<string> {
    return (await this.post(`/cards/${cardId}/comments`, { body })).body.data.id
  }

  /** Makes a person an explicit member. */
  async add(person: Person): Promise<void> {
    await this.put(`/boards/${this.id}/members/${person.id}`)
  }
  async makePrivate(): Promise<void> {
    await this.put(`/boards/${this.id}/visibility`, { visibility: 'private' })
  }

  /** The `data` of a card. */
  async read(cardId: string): Promise<any> {
    return (await this.get(`/cards/${cardId}`)).body.data
  }

  /** Uploads a file and attaches it. */
  async attach(
    cardId: string,
    {
      name = 'a.txt',
      type = 'text/plain',
      text = 'hello' as string | Buffer<ArrayBuffer>,
      visibility = undefined as string | undefined,
      token = this.creator.write,
    } = {},
  ): Promise<Reply> {
    const form = new FormData()
    if (visibility !== undefined) form.set('visibility', visibility)
    form.set('file', new File([text], name, { type }))
    return this.service.upload(token, `/cards/${cardId}/files`, form)
  }
  /** Uploads an image and attaches it. @returns the id of the attachment */
  async image(cardId: string): Promise<string> {
    return (await this.attach(cardId, { name: 'a.png', type: 'image/png', text: png(1, 1) })).body.data.id
  }

  /** All items of a list, read page by page. */
  static async all(service: Service, token: string, path: string, limit: number): Promise<any[]> {
    const items: any[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const separator = path.includes('?') ? '&' : '?'
      const reply = await service.send(token, 'GET', `${path}${separator}limit=${limit}${cursor && `&cursor=${cursor}`}`)
      if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`)
      items.push(...reply.body.data)
      cursor = reply.body.page.next_cursor
    }
    return items
  }
  all(path: string, limit = 100, token = this.creator.read): Promise<any[]> {
    return TestBoard.all(this.service, token, path, limit)
  }
  /** The titles of the cards in the order of their list. */
  async titles(query = '', limit = 100): Promise<string[]> {
    return (await this.all(`/boards/${this.id}/cards${query}`, limit)).map(({ title }) => title)
  }

  /** The current time of the service, RFC 3339. */
  get now(): string {
    return new Date(this.service.now).toISOString()
  }
  /** Advances the clock of the service by one second. @returns the new time */
  tick(): string {
    this.service.now += 1000
    return this.now
  }
}

function requireSuccess(reply: Reply): Reply {
  if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
  return reply
}

/** A service with three people in one workspace and, for each test, a new board with one column and one card. */
export interface BoardSetup {
  readonly service: Service
  readonly workspaceId: string
  /** a member, the creator of the board */
  readonly ann: Person
  /** a member */
  readonly bob: Person
  /** a workspace owner */
  readonly cyd: Person
  readonly board: TestBoard
  readonly columnId: string
  readonly cardId: string
}

/** Registers the hooks of a suite that works on a board. @returns the setup, whose members are set when a test starts */
export function setUpBoard(driver: Driver, options: ServiceOptions = {}): BoardSetup {
  const setup = {} as { -readonly [Member in keyof BoardSetup]: BoardSetup[Member] }
  beforeAll(async () => {
    setup.service = await Service.start(driver, options)
    setup.workspaceId = await setup.service.workspace()
    setup.ann = await setup.service.person(setup.workspaceId, 'member', 'Ann')
    setup.bob = await setup.service.person(setup.workspaceId, 'member', 'Bob')
    setup.cyd = await setup.service.person(setup.workspaceId, 'owner', 'Cyd')
    await recordUses(setup.service, setup.ann, setup.bob, setup.cyd)
  })
  afterAll(() => setup.service.stop())
  beforeEach(async () => {
    setup.board = await TestBoard.create(setup.service, setup.ann)
    setup.columnId = await setup.board.column()
    setup.cardId = await setup.board.card(setup.columnId)
  })
  return setup
}

let copies = 0

/**
 * Stores copies of a record directly, each with an id of its own, and behind it in its list: a limit is reached quickly, and a list is
 * long.
 * @param key of the record, such as `card:crd_…`
 * @param change members of a copy, by its number
 * @returns the ids of the copies
 */
export async function storeCopies(
  { service, creator }: TestBoard,
  key: string,
  count: number,
  change: (i: number) => object = () => ({}),
): Promise<string[]> {
  const [kind, id] = key.split(':') as [string, string]
  const ids = Array.from({ length: count }, () => `${id.slice(0, 4)}${String(++copies).padStart(20, '0')}`)
  await service.write(creator.workspaceId, async (tx) => {
    const record = (await tx.get(key as Key<object>)) as { readonly position?: string }
    const { position } = record
    await tx.read(ids.map((copy) => `${kind}:${copy}` as Key<object>))
    for (const [i, copy] of ids.entries()) {
      const own = position === undefined ? {} : { position: `${position}${String(i).padStart(5, '0')}1` }
      tx.put(`${kind}:${copy}` as Key<object>, { ...record, id: copy, ...own, ...change(i) })
    }
  })
  return ids
}

/**
 * Uses all tokens of these people. For the next ten minutes of the service's clock, their uses cause no more commits, so
 * the request under test makes the next commit.
 */
export async function recordUses(service: Service, ...people: Person[]): Promise<void> {
  for (const { read, write, admin } of people) for (const token of [read, write, admin]) await service.send(token, 'GET', '/account')
  await service.app.services.usage.settled()
}
