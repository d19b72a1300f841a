import { expect } from 'vitest'
import { collectGarbage } from '../../../src/admin/garbage-collection.ts'
import { TestBoard } from '../../support/board.ts'
import type { Person } from '../../support/service.ts'
import type { Fixture } from './selection.ts'

const kinds = ['board', 'board_member', 'column', 'card', 'label', 'subtask', 'comment', 'attachment'] as const

/** A copy of a board that a client keeps with nothing but the change feed. */
class Replica {
  readonly objects = Object.fromEntries(kinds.map((kind) => [kind, new Map<string, any>()])) as Record<
    (typeof kinds)[number],
    Map<string, any>
  >
  #cursor: string | undefined
  #seq = 0

  /** Reads what has changed since the last time. */
  async follow({ service }: Fixture, { read }: Person, boardId: string): Promise<void> {
    for (;;) {
      const after = this.#cursor === undefined ? '' : `&after=${this.#cursor}`
      const { status, text, body } = await service.send(read, 'GET', `/boards/${boardId}/changes?limit=100${after}`)
      expect(status, text).toBe(200)
      for (const change of body.data) this.#apply(change)
      this.#cursor = body.page.next_cursor
      if (body.data.length === 0) return
    }
  }

  #apply({ seq, kind, id, action, data }: { seq: number; kind: (typeof kinds)[number]; id: string; action: string; data: any }): void {
    // No change is missing, and none comes twice.
    expect(seq).toBe(++this.#seq)
    if (action !== 'deleted' && data !== null) return void this.objects[kind].set(id, data)
    this.objects[kind].delete(id)
    if (kind === 'card')
      for (const name of ['subtask', 'comment', 'attachment'] as const)
        for (const [child, { card_id }] of this.objects[name]) if (card_id === id) this.objects[name].delete(child)
  }
}

/** The copies of the boards that anyone can read. */
export class Replicas {
  readonly #replicas = new Map<string, Replica>()

  /** Brings the copies up to date. A board without readers is followed later. */
  async follow(fixture: Fixture): Promise<void> {
    for (const [boardId, person] of readers(fixture)) {
      const replica = this.#replicas.get(boardId) ?? new Replica()
      this.#replicas.set(boardId, replica)
      await replica.follow(fixture, person, boardId)
    }
  }

  /** Compares the copies with what the lists have. What a change removes in batches has then been removed. */
  async compare(fixture: Fixture): Promise<void> {
    const { service, people } = fixture
    await collectGarbage(service.adminDeps, people[0]!.workspaceId)
    await this.follow(fixture)
    for (const [boardId, person] of readers(fixture)) {
      const { objects } = this.#replicas.get(boardId)!
      const all = (path: string) => TestBoard.all(service, person.read, path, 100)
      const both = async (path: string) => [...(await all(path)), ...(await all(`${path}?archived=true`))]
      const cards = await both(`/boards/${boardId}/cards`)
      const onCards = async (list: string) => (await Promise.all(cards.map(({ id }) => all(`/cards/${id}/${list}`)))).flat()
      const lists = {
        board: [(await service.send(person.read, 'GET', `/boards/${boardId}`)).body.data],
        board_member: (await all(`/boards/${boardId}/members`)).filter(({ creator }) => !creator),
        column: await both(`/boards/${boardId}/columns`),
        card: cards,
        label: await all(`/boards/${boardId}/labels`),
        subtask: await onCards('subtasks'),
        comment: await onCards('comments'),
        attachment: await onCards('attachments'),
      }
      for (const kind of kinds) expect(byId([...objects[kind].values()]), kind).toEqual(byId(lists[kind]))
    }
  }
}

const idOf = (object: any): string => object.id ?? object.user_id
const byId = (objects: any[]) => objects.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1))

/** For each board, someone who can read it. */
function readers({ model, people }: Fixture): (readonly [boardId: string, person: Person])[] {
  return model.boards.flatMap((board) => {
    const person = people.find(({ id }) => model.people.has(id) && model.canSee(id, board))
    return person === undefined ? [] : [[board.id, person] as const]
  })
}
