import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import axios from 'axios'
import { EventSource } from 'eventsource'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTime } from '../../support/in-time.ts'
import { startDemo, type DemoService } from '../demo.ts'
import { PICTURE, playScenario } from '../scenario.ts'
import { LIBRARIES } from './clients.ts'

let service: DemoService
let url: string
let headers: { authorization: string }
beforeAll(async () => {
  service = await startDemo()
  url = `${service.url}/v1`
  headers = { authorization: `Bearer ${service.tokenOf('kanban:write')}` }
})
afterAll(() => service.stop())

describe('plays the scenario', () => {
  test.each(Object.entries(LIBRARIES))('with %s', async (_, connect) => {
    await playScenario(
      await connect(url, service.tokenOf('kanban:write')),
      await connect(url, service.tokenOf('kanban:admin', 'Adrian Cole')),
    )
  })

  test('with requests of Python', async () => {
    const program = fileURLToPath(new URL('scenario.py', import.meta.url))
    const tokens = [service.tokenOf('kanban:write'), service.tokenOf('kanban:admin', 'Adrian Cole')]
    const { stdout } = await promisify(execFile)('python3', [program, url, ...tokens])
    expect(stdout).toMatch(/^2\.\d+\.\d+\n$/)
  })
})

test('eventsource gets the events named `change`, and calls no onmessage', async () => {
  const board = (await axios.post(`${url}/boards`, { name: 'Events' }, { headers })).data.data.id as string
  const source = new EventSource(`${url}/boards/${board}/events`, {
    fetch: (address, init) => fetch(address, { ...init, headers: { ...init.headers, ...headers } }),
  })
  let messages = 0
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this is what users try first
  source.onmessage = () => (messages += 1)
  const change = new Promise<string>((resolve, reject) => {
    source.addEventListener('change', ({ data }) => resolve(data as string))
    source.addEventListener('error', reject)
  })
  source.addEventListener('open', () => void axios.post(`${url}/boards/${board}/columns`, { name: 'To do' }, { headers }))
  try {
    expect(JSON.parse(await inTime(change, () => 'no event has come'))).toMatchObject({
      seq: expect.any(Number) as number,
      actor_id: expect.stringMatching(/^usr_/) as string,
    })
    expect(messages).toBe(0)
  } finally {
    source.close()
  }
})

/** What programs write that no package here is: the query of a search on a board, and how many cards it finds. */
const QUERIES: readonly { readonly by: string; readonly query: string; readonly found: number }[] = [
  { by: 'http_build_query of PHP', query: 'include%5B0%5D=claim&include%5B1%5D=etag&completed=0&archived=0', found: 1 },
  { by: 'http_build_query of PHP, true', query: 'completed=1', found: 0 },
  { by: 'qs, jQuery and Rails', query: 'include[]=claim&include[]=etag&archived=false', found: 1 },
  { by: 'a client of .NET', query: 'completed=False&archived=False', found: 1 },
  { by: 'an offset whose plus is a space', query: 'due_after=2026-01-01T00:00:00+02:00', found: 1 },
  { by: 'commas', query: 'include=claim,etag', found: 1 },
]

test.each(QUERIES)('the query is read as $by writes it', async ({ query, found }) => {
  const board = (await axios.post(`${url}/boards`, { name: 'Queries' }, { headers })).data.data.id as string
  const column_id = (await axios.post(`${url}/boards/${board}/columns`, { name: 'To do' }, { headers })).data.data.id as string
  await axios.post(`${url}/boards/${board}/cards`, { column_id, title: 'One', due_at: '2027-01-01T00:00:00Z' }, { headers })
  const answer = await axios.get(`${url}/cards?board_id=${board}&${query}`, { headers, validateStatus: () => true })
  expect(answer.data.data, JSON.stringify(answer.data)).toHaveLength(found)
})

const PNG = Buffer.from(PICTURE, 'base64').toString('latin1')

/** Heads of the part of an upload as other programs write them, with the name and the type of what is stored. */
const PARTS: readonly { readonly by: string; readonly head: readonly string[]; readonly bytes: string; readonly stored: object }[] = [
  {
    by: 'curl, a name in quotes',
    head: [String.raw`Content-Disposition: form-data; name="file"; filename="a \"b\".png"`, 'Content-Type: image/png'],
    bytes: PNG,
    stored: { name: 'a "b".png', content_type: 'image/png' },
  },
  {
    by: 'PHP curl (CURLFile)',
    head: ['Content-Disposition: form-data; name="file"; filename="photo.png"', 'Content-Type: application/octet-stream'],
    bytes: PNG,
    stored: { name: 'photo.png', content_type: 'image/png' },
  },
  {
    by: 'HttpClient of .NET, which encodes the name twice',
    head: [
      `Content-Disposition: form-data; name=file; filename="=?utf-8?B?${btoa('Stra\u00C3\u009Fe.txt')}?="; filename*=utf-8''Stra%C3%9Fe.txt`,
    ],
    bytes: 'Bring the keys.',
    stored: { name: 'Straße.txt', content_type: 'text/plain' },
  },
  {
    by: 'PowerShell 7',
    head: ['Content-Disposition: form-data; name="file"; filename="notes.md"', 'Content-Type: application/octet-stream'],
    bytes: '# Keys',
    stored: { name: 'notes.md', content_type: 'text/markdown' },
  },
  {
    by: 'Java, which says text of what is none',
    head: ['Content-Disposition: form-data; name="file"; filename="photo"', 'Content-Type: text/plain'],
    bytes: PNG,
    stored: { name: 'photo', content_type: 'image/png' },
  },
]

test.each(PARTS)('the name and the type of an upload are read as $by writes them', async ({ head, bytes, stored }) => {
  const board = (await axios.post(`${url}/boards`, { name: 'Uploads' }, { headers })).data.data.id as string
  const column_id = (await axios.post(`${url}/boards/${board}/columns`, { name: 'To do' }, { headers })).data.data.id as string
  const card = (await axios.post(`${url}/boards/${board}/cards`, { column_id, title: 'One' }, { headers })).data.data.id as string
  const body = Buffer.from(['--x', ...head, '', bytes, '--x--', ''].join('\r\n'), 'latin1')
  const type = { 'content-type': 'multipart/form-data; boundary=x' }
  const answer = await axios.post(`${url}/cards/${card}/files`, body, { headers: { ...headers, ...type }, validateStatus: () => true })
  expect(answer.data, JSON.stringify(answer.data)).toMatchObject({ data: stored })
})
