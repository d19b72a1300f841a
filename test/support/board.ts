import type { Person, Reply, Service } from './service.ts'

/** A board with a creator, to do things on. */
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
    const board = new TestBoard(service, creator, (await service.send(creator.admin, 'POST', '/boards', { name: 'Board' })).body.data.id)
    if (visibility === 'private') await board.put(`/boards/${board.id}/visibility`, { visibility })
    return board
  }

  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return this.service.send(this.creator.admin, method, path, body, headers)
  }
  get(path: string): Promise<Reply> {
    return this.send('GET', path)
  }
  put(path: string, body?: unknown): Promise<Reply> {
    return this.ok(this.send('PUT', path, body))
  }
  post(path: string, body?: unknown): Promise<Reply> {
    return this.ok(this.send('POST', path, body))
  }
  delete(path: string): Promise<Reply> {
    return this.ok(this.send('DELETE', path))
  }

  async ok(reply: Promise<Reply>): Promise<Reply> {
    const answered = await reply
    if (answered.status >= 300) throw new Error(`${answered.status} ${answered.text}`)
    return answered
  }

  async column(name = 'Column', where: object = {}): Promise<string> {
    return (await this.post(`/boards/${this.id}/columns`, { name, ...where })).body.data.id
  }
  async card(columnId: string, title = 'Card', more: object = {}): Promise<string> {
    return (await this.post(`/boards/${this.id}/cards`, { column_id: columnId, title, ...more })).body.data.id
  }
  async label(name = 'Label'): Promise<string> {
    return (await this.post(`/boards/${this.id}/labels`, { name, color: '#123456' })).body.data.id
  }
  async add(person: Person): Promise<void> {
    await this.put(`/boards/${this.id}/members/${person.id}`)
  }
  async read(cardId: string): Promise<any> {
    return (await this.get(`/cards/${cardId}`)).body.data
  }

  /** Uploads a file and attaches it. */
  async attach(
    cardId: string,
    { name = 'a.txt', type = 'text/plain', text = 'hello', visibility = undefined as string | undefined, token = this.creator.write } = {},
  ): Promise<Reply> {
    const form = new FormData()
    if (visibility !== undefined) form.set('visibility', visibility)
    form.set('file', new File([text], name, { type }))
    return this.service.upload(token, `/cards/${cardId}/attachments`, form)
  }

  /** All items of a list, page by page. */
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
  async titles(query = '', limit = 100): Promise<string[]> {
    return (await this.all(`/boards/${this.id}/cards${query}`, limit)).map(({ title }) => title)
  }
}
