import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestBoard } from '../support/board.ts'
import { memory } from '../support/memory.ts'
import { Service, type Person, type Reply } from '../support/service.ts'

/** Where an issue is: in the query or the body, and the name of the member; empty for the whole. */
type Place = readonly [place: 'query' | 'body', path: string]

describe('the issues of a request that is not valid name their members exactly', () => {
  let service: Service
  let person: Person
  let ids: Record<'board' | 'column' | 'card' | 'subtask' | 'label' | 'comment' | 'file', string>
  beforeAll(async () => {
    service = await Service.start(memory)
    person = await service.person(await service.workspace())
    const board = await TestBoard.create(service, person)
    const column = await board.column()
    const card = await board.card(column)
    ids = {
      board: board.id,
      column,
      card,
      subtask: await board.subtask(card),
      label: await board.label(),
      comment: await board.comment(card),
      file: (await board.attach(card)).body.data.file_id,
    }
  })
  afterAll(() => service.stop())
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_all, name: keyof typeof ids) => ids[name])

  /** The message names the first issue. */
  const expectIssues = ({ status, body: { error } }: Reply, places: readonly Place[]) => {
    expect([status, error.code]).toEqual([422, 'validation_failed'])
    expect(error.issues).toEqual(places.map(([place, path]) => ({ in: place, path, message: expect.stringMatching(/./) })))
    const [place, path] = places[0]!
    const subject = path === '' ? `the ${place}` : `"${path}"`
    expect(error.message).toBe(`The request does not match what this operation accepts: ${subject} ${error.issues[0].message}.`)
  }

  test.each([
    ['POST /boards', {}, 'is missing'],
    ['POST /boards', { name: 1 }, 'expected string, received number'],
    ['POST /boards/{board}/cards', { column_id: 'x', title: 'x', to: 'top' }, 'expected one of "first"|"last"'],
    ['POST /columns/{column}/move', {}, 'must have one of before, after, to'],
    ['POST /columns/{column}/move', { before: 'x', to: 'last' }, 'cannot be combined with "before"'],
    ['POST /boards/{board}/batch', { operations: [] }, 'expected array to have >=1 items'],
    [
      'POST /boards/{board}/batch',
      { operations: [{ operation: 'cards.archive', params: { card_id: '$1' } }] },
      'must refer to an earlier operation that creates something: "$1" does not',
    ],
  ])('%s with the body %j is answered with the message "%s"', async (request, body, message) => {
    const [method, path] = request.split(' ') as [string, string]
    const { status, body: answer } = await service.send(person.admin, method, fill(path), body)
    expect([status, answer.error.issues[0].message]).toEqual([422, message])
  })

  test.each<[request: string, body: unknown, places: Place[]]>([
    ['POST /boards', {}, [['body', 'name']]],
    ['POST /boards', [], [['body', '']]],
    ['POST /boards', { name: 'x', unknown: 1 }, [['body', 'unknown']]],
    [
      'POST /boards',
      { name: 'x', one: 1, two: 2 },
      [
        ['body', 'one'],
        ['body', 'two'],
      ],
    ],
    [
      'POST /boards',
      { name: 1, description: null, cover_color: 'red' },
      [
        ['body', 'name'],
        ['body', 'description'],
        ['body', 'cover_color'],
      ],
    ],
    ['POST /boards', { name: { x: 1 } }, [['body', 'name']]],
    ['PATCH /boards/{board}', {}, [['body', '']]],
    ['PATCH /boards/{board}', { name: 'x', visibility: 'private' }, [['body', 'visibility']]],
    [
      'POST /boards?a=1&b=2',
      {},
      [
        ['query', 'a'],
        ['query', 'b'],
        ['body', 'name'],
      ],
    ],
    ['POST /boards/{board}/columns', { name: 'x', before: 'a', after: 'b' }, [['body', 'after']]],
    ['POST /columns/{column}/move', {}, [['body', '']]],
    ['POST /columns/{column}/move', { to: 'second' }, [['body', 'to']]],
    ['POST /columns/{column}/move', { after: '{card}', to: 'first' }, [['body', 'to']]],
    ['POST /columns/{column}/move', { before: '{column}' }, [['body', 'before']]],
    ['POST /columns/{column}/move', { after: '{column}' }, [['body', 'after']]],
    ['POST /cards/{card}/move', {}, [['body', '']]],
    ['POST /cards/{card}/move', { before: '{card}' }, [['body', 'before']]],
    ['POST /cards/{card}/move', { column_id: '{column}', after: '{card}' }, [['body', 'after']]],
    [
      'POST /cards/{card}/move?x=1',
      { after: '{card}' },
      [
        ['query', 'x'],
        ['body', 'after'],
      ],
    ],
    [
      'POST /boards/{board}/cards',
      { column_id: 1, title: ' ' },
      [
        ['body', 'column_id'],
        ['body', 'title'],
      ],
    ],
    ['POST /boards/{board}/cards', { column_id: 'x', title: 'x', due_at: 'tomorrow' }, [['body', 'due_at']]],
    ['POST /columns/{column}/move', { before: '{card}', after: '{card}' }, [['body', 'after']]],
    ['POST /cards/{card}/move', { before: '{column}', to: 'last' }, [['body', 'to']]],
    ['POST /boards/{board}/labels', { color: '#d73a4a' }, [['body', 'name']]],
    ['POST /boards/{board}/labels', { name: 'Bug', color: 'red' }, [['body', 'color']]],
    ['POST /cards/{card}/comments', { body: ' \n\t ' }, [['body', 'body']]],
    ['POST /cards/{card}/comments', { body: 'x', author_id: 'x' }, [['body', 'author_id']]],
    ['PATCH /boards/{board}', { name: 'x', creator_id: 'x' }, [['body', 'creator_id']]],
    [
      'PATCH /columns/{column}',
      { name: 'x', board_id: '{board}', archived_at: null },
      [
        ['body', 'board_id'],
        ['body', 'archived_at'],
      ],
    ],
    ['PATCH /cards/{card}', {}, [['body', '']]],
    [
      'PATCH /cards/{card}',
      {
        title: 'x',
        column_id: null,
        completed_at: null,
        archived_at: null,
        assignee_ids: null,
        label_ids: null,
        cover_attachment_id: null,
      },
      ['column_id', 'completed_at', 'archived_at', 'assignee_ids', 'label_ids', 'cover_attachment_id'].map(
        (path) => ['body', path] as const,
      ),
    ],
    ['PATCH /labels/{label}', {}, [['body', '']]],
    [
      'PATCH /labels/{label}',
      { name: '', color: null, board_id: 'x' },
      [
        ['body', 'name'],
        ['body', 'color'],
        ['body', 'board_id'],
      ],
    ],
    ['PATCH /comments/{comment}', { body: '' }, [['body', 'body']]],
    [
      'PATCH /files/{file}',
      { visibility: 'public', owner_id: 'x' },
      [
        ['body', 'visibility'],
        ['body', 'owner_id'],
      ],
    ],
    ['PATCH /subtasks/{subtask}', {}, [['body', '']]],
    ['PATCH /subtasks/{subtask}', { before: 'a', after: 'b' }, [['body', 'after']]],
    ['PATCH /subtasks/{subtask}', { title: 'x', completed_at: null }, [['body', 'completed_at']]],
    ['PATCH /subtasks/{subtask}', { before: '{subtask}' }, [['body', 'before']]],
    ['PATCH /subtasks/{subtask}', { title: 'x', after: '{subtask}' }, [['body', 'after']]],
    ['PUT /cards/{card}/completion', { completed: 'yes' }, [['body', 'completed']]],
    ['PUT /cards/{card}/cover', {}, [['body', 'attachment_id']]],
    ['POST /cards/{card}/attachments', { file_id: null }, [['body', 'file_id']]],
    ['POST /cards/{card}/archive', { x: 1 }, [['body', 'x']]],
    ['GET /boards?limit=0', undefined, [['query', 'limit']]],
    ['GET /boards?limit=1&limit=2', undefined, [['query', 'limit']]],
    ['GET /boards?cursor=x', undefined, [['query', 'cursor']]],
    [
      'GET /boards?limit=x&cursor=x',
      undefined,
      [
        ['query', 'limit'],
        ['query', 'cursor'],
      ],
    ],
    ['GET /boards/{board}?include=everything', undefined, [['query', 'include']]],
    ['GET /boards/{board}/columns?archived=1', undefined, [['query', 'archived']]],
    [
      'GET /boards/{board}/cards?completed=1&updated_since=2026-01-01T00:00:00Z&q=%20',
      undefined,
      [
        ['query', 'completed'],
        ['query', 'q'],
        ['query', 'updated_since'],
      ],
    ],
    [
      'GET /cards?sort=title&due_before=today&order=up',
      undefined,
      [
        ['query', 'due_before'],
        ['query', 'sort'],
        ['query', 'order'],
      ],
    ],
    ['GET /boards/{board}/cards?board_id=x', undefined, [['query', 'board_id']]],
    ['DELETE /cards/{card}?force=1', undefined, [['query', 'force']]],
  ])('the issues of %s with %j name its members', async (request, body, places) => {
    const [method, path] = fill(request).split(' ') as [string, string]
    const token = method === 'DELETE' ? await service.token(person.workspaceId, person.id, ['kanban:admin']) : person.write
    expectIssues(await service.send(token, method, path, body === undefined ? undefined : JSON.parse(fill(JSON.stringify(body)))), places)
  })

  test.each<[what: string, parts: [name: string, value: string | File][], places: Place[]]>([
    ['no file', [['visibility', 'private']], [['body', 'file']]],
    [
      'a file that is text',
      [['file', 'x']],
      [
        ['body', 'file'],
        ['body', 'file'],
      ],
    ],
    [
      'an unknown field',
      [
        ['name', 'x'],
        ['file', new File(['x'], 'a')],
      ],
      [['body', 'name']],
    ],
    [
      'an unknown file',
      [
        ['file', new File(['x'], 'a')],
        ['more', new File(['x'], 'b')],
      ],
      [['body', 'more']],
    ],
    [
      'two files',
      [
        ['file', new File(['x'], 'a')],
        ['file', new File(['x'], 'b')],
      ],
      [['body', 'file']],
    ],
    [
      'an unknown visibility',
      [
        ['visibility', 'public'],
        ['file', new File(['x'], 'a')],
      ],
      [['body', 'visibility']],
    ],
    [
      'two visibilities',
      [
        ['visibility', 'private'],
        ['visibility', 'private'],
        ['file', new File(['x'], 'a')],
      ],
      [['body', 'visibility']],
    ],
    ['a name that is too long', [['file', new File(['x'], 'a'.repeat(256))]], [['body', 'file']]],
  ])('the issues of a form with %s name its members', async (_what, parts, places) => {
    const form = new FormData()
    for (const [name, value] of parts) form.append(name, value)
    expectIssues(await service.upload(person.write, `/cards/${ids.card}/attachments`, form), places)
  })
})
