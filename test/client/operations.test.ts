import { expect, test } from 'vitest'
import { createClient, type Result } from '../../src/client/client.ts'
import { operations as clientOperations } from '../../src/client/operations.ts'
import { operations } from '../../src/resources/table.ts'
import { OF_HOLDERS, buildWorld, createAllowed, exampleBody, pathOf } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

const service = await Service.forSuite()
const world = await buildWorld(service)

/** A body as JSON. */
const parse = (text: string) => (text === '' ? undefined : (JSON.parse(text) as unknown))
/** Streams of events have no end. */
const finite = operations.filter(({ id }) => id !== 'boards.events')

test('the client has every operation, and no other', () => {
  expect(Object.keys(clientOperations)).toEqual(operations.map(({ id }) => id))
})

test.each(finite.map((row) => [row.id, row] as const))(
  '%s is called by the client with the path and the body of its row',
  async (id, row) => {
    const scenario = await createAllowed(world, row)
    const body = row.takesUpload ? { file: new File(['hello'], 'a.txt') } : exampleBody(id, scenario)
    const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    const input = { ...Object.fromEntries(names.map((name) => [name, scenario.params[name]])), ...(body as object | undefined) }
    const sent: unknown[] = []
    const client = createClient({
      url: 'http://localhost',
      token: scenario.caller.admin,
      retries: { attempts: 1 },
      async fetch(url, init) {
        const request = new Request(url as string, init)
        sent.push([request.method, new URL(request.url).pathname, row.takesUpload ? body : parse(await request.clone().text())])
        return service.app.fetch(request)
      },
    })
    const [resource, name] = id.split('.') as [string, string]
    const method = (client as unknown as Record<string, Record<string, (input: object, options: object) => Promise<Result<unknown>>>>)[
      resource
    ]![name]!
    const { status, data, requestId } = await method(input, OF_HOLDERS.includes(id) ? { ifClaim: 1 } : {})
    expect(sent).toEqual([[row.method, `/v1${pathOf(row.path, scenario)}`, body]])
    expect(status).toBe(row.status)
    expect(service.records.at(-1)!.operation).toBe(id)
    expect(requestId).toBe(service.records.at(-1)!.requestId)
    if (row.data.def.type !== 'undefined') expect(row.data.safeParse(data).error).toBeUndefined()
  },
)
