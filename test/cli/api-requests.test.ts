import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { readRelativeTime, DAY } from '../../src/model/time.ts'
import { namesInPath } from '../../src/resources/operation.ts'
import { operations } from '../../src/resources/table.ts'
import { CommandHost } from '../support/process.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

test.each<[text: string, expected: string | undefined]>([
  ['now', '2026-11-20T12:00:00.000Z'],
  ['-7d', '2026-11-13T12:00:00.000Z'],
  ['+2w', '2026-12-04T12:00:00.000Z'],
  ['-12h', '2026-11-20T00:00:00.000Z'],
  ['-30m', '2026-11-20T11:30:00.000Z'],
  ['+0d', '2026-11-20T12:00:00.000Z'],
  ['+52w', '2027-11-19T12:00:00.000Z'],
  ...['7d', '-d', '-7', '-7D', '-7y', '--7d', '-1.5d', '- 7d', '-7d ', '-999999d', '', '2026-11-20'].map((one): [string, undefined] => [
    one,
    undefined,
  ]),
])('the relative time %j is read', (one, expected) => {
  const time = readRelativeTime(one, NOW)
  expect(time === undefined ? undefined : new Date(time).toISOString()).toBe(expected)
})

let server: Server
let host: CommandHost
let sent: { readonly method: string; readonly url: URL; readonly body: string }[] = []
beforeAll(async () => {
  server = createServer(async (request, response) => {
    sent.push({ method: request.method!, url: new URL(request.url!, 'http://service.test'), body: await text(request) })
    response.setHeader('content-type', 'application/json').end('{"data":[],"page":{"next_cursor":null}}')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  host = new CommandHost({ LANEKEEPER_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, LANEKEEPER_TOKEN: 'lk_pat_test' })
})
afterAll(() => {
  server.close()
})
beforeEach(() => void (sent = []))

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
}

const toJson = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as ObjectSchema

/** The parameters and body members of all operations that are times, by their schemas. */
const times = operations.flatMap((row) =>
  [row.query, row.body].flatMap((schema) => {
    const { properties = {}, required = [] } = schema === undefined ? {} : toJson(schema)
    const names = Object.keys(properties).filter((name) => JSON.stringify(properties[name]).includes('"format":"date-time"'))
    return names.map((name) => [row.id, name, row, required.filter((one) => one !== name)] as const)
  }),
)

const flagOf = (name: string) => `--${name.replaceAll('_', '-')}`
/** What a value is in the option of its member. */
const textOf = (name: string, value: unknown) =>
  name.endsWith('_ids') || name === 'kinds' ? String(value) : typeof value === 'string' ? value : JSON.stringify(value)

test.each(operations.map((row) => [row.id, row] as const))('%s has the options of its path and its body', async (id, row) => {
  const params = Object.fromEntries(namesInPath(row.path).map((name, i) => [name, `id_${i}`]))
  const body = row.example.body as Record<string, unknown> | undefined
  const options = Object.entries({ ...params, ...body }).flatMap(([name, value]) => {
    // `--url` is the service's.
    const flag = flagOf(name === 'url' ? 'webhook_url' : name)
    return value === null ? flag.replace('--', '--no-') : [flag, textOf(name, value)]
  })
  const file = row.takesUpload ? ['--file', import.meta.filename] : []
  const { code, stderr } = await host.run(['api', id, ...options, ...file])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { method, url, body: sentBody } = sent.pop()!
  const path = row.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => params[name]!)
  expect({ method, pathname: url.pathname }).toEqual({ method: row.method, pathname: `/v1${path}` })
  if (row.takesUpload) expect(sentBody).toContain('filename="api-requests.test.ts"')
  else if (row.body === undefined) expect(sentBody).toBe('')
  else expect(JSON.parse(sentBody)).toEqual(body ?? {})
})

test.each(times)('%s accepts a relative time for %s, in both notations', async (id, name, row, required) => {
  const flag = flagOf(name)
  const others = [...namesInPath(row.path), ...required].flatMap((one) => [flagOf(one), 'x'])
  for (const [option, offset] of [
    [[flag, '-7d'], -7 * DAY],
    [[`${flag}=-7d`], -7 * DAY],
    [[flag, '+2w'], 14 * DAY],
    [[flag, 'now'], 0],
  ] as const) {
    const before = Date.now()
    const { code, stderr } = await host.run(['api', id, ...others, ...option, '--json'])
    const after = Date.now()
    expect({ option, code, stderr }).toEqual({ option, code: 0, stderr: '' })
    const { url, body } = sent.pop()!
    const value = url.searchParams.get(name) ?? (JSON.parse(body) as Record<string, string>)[name]!
    expect(value).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(value) - offset).toBeGreaterThanOrEqual(before)
    expect(Date.parse(value) - offset).toBeLessThanOrEqual(after)
  }
})

test('a time is sent unchanged, and any other text is an error that shows valid times', async () => {
  await host.run(['api', 'cards.update', '--card-id', 'x', '--due-at', '2026-11-20T12:00:00+01:00', '--json'])
  expect(JSON.parse(sent.pop()!.body)).toEqual({ due_at: '2026-11-20T12:00:00+01:00' })
  await host.run(['api', 'cards.update', '--card-id', 'x', '--no-due-at', '--json'])
  expect(JSON.parse(sent.pop()!.body)).toEqual({ due_at: null })
  for (const value of ['7d', '-7x', 'tomorrow', '', '-h']) {
    const { code, stderr } = await host.run(['api', 'cards.update', '--card-id', 'x', '--due-at', value])
    expect({ value, code, stderr }).toEqual({
      value,
      code: 2,
      stderr: `--due-at: "${value}" is no time; it must be one such as 2026-11-20T12:00:00Z, or -7d, -12h, +2w, -30m or now\n`,
    })
  }
  expect(sent).toEqual([])
})
