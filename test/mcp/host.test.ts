import { expect, test } from 'vitest'
import type { ServerRequest } from 'srvx'
import { PublicUrl } from '../../src/http/public-url.ts'
import { HostCheck } from '../../src/mcp/endpoint.ts'

const answer = (check: HostCheck, host: string, origin?: string) => {
  const headers = new Headers({ host, ...(origin === undefined ? {} : { origin }) })
  try {
    check.requireOwn(new Request('http://localhost/mcp', { headers }) as ServerRequest)
    return 'accepted'
  } catch (error) {
    return (error as { code: string }).code
  }
}
const unnamed = new HostCheck(new PublicUrl(undefined), '127.0.0.1')
const named = new HostCheck(new PublicUrl('https://kanban.example'), '0.0.0.0')
const listeningOnName = new HostCheck(new PublicUrl(undefined), 'Kanban.internal')

// Each check with the hosts, and the hosts with an origin, that it accepts and refuses.
const judged: [HostCheck, accepted: string[], forbidden: string[]][] = [
  [
    unnamed,
    ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', 'localhost:3000 http://localhost:3000'],
    [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'kanban.example',
      '',
      ...['http://localhost:6274', 'http://evil.example', 'null', ''].map((origin) => `localhost:3000 ${origin}`),
    ],
  ],
  [
    named,
    ['kanban.example', 'kanban.example https://kanban.example'],
    [
      'evil.kanban.example',
      'localhost:3000 http://localhost:3000',
      ...['http://kanban.example', 'https://kanban.example.evil.example'].map((origin) => `kanban.example ${origin}`),
    ],
  ],
  [listeningOnName, ['kanban.internal:3000'], []],
]
test.each(judged)('a request is judged by its Host and Origin: %#', (check, accepted, forbidden) => {
  const outcomes = (all: string[]) => all.map((one) => [one, answer(check, ...(one.split(' ') as [string]))])
  expect(outcomes(accepted)).toEqual(accepted.map((one) => [one, 'accepted']))
  expect(outcomes(forbidden)).toEqual(forbidden.map((one) => [one, 'forbidden']))
})
