import { expect, test } from 'vitest'
import type { ServerRequest } from 'srvx'
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
const unnamed = new HostCheck(undefined, '127.0.0.1')
const named = new HostCheck('https://kanban.example', '0.0.0.0')
const listeningOnName = new HostCheck(undefined, 'Kanban.internal')

test.each([
  [unnamed, 'localhost:3000', undefined, 'accepted'],
  [unnamed, '127.0.0.1:3000', undefined, 'accepted'],
  [unnamed, '[::1]:3000', undefined, 'accepted'],
  [unnamed, 'evil.example', undefined, 'forbidden'],
  [unnamed, 'localhost.evil.example', undefined, 'forbidden'],
  [unnamed, '127.0.0.1.evil.example', undefined, 'forbidden'],
  [unnamed, 'kanban.example', undefined, 'forbidden'],
  [unnamed, '', undefined, 'forbidden'],
  [unnamed, 'localhost:3000', 'http://localhost:3000', 'accepted'],
  [unnamed, 'localhost:3000', 'http://localhost:6274', 'forbidden'],
  [unnamed, 'localhost:3000', 'http://evil.example', 'forbidden'],
  [unnamed, 'localhost:3000', 'null', 'forbidden'],
  [unnamed, 'localhost:3000', '', 'forbidden'],
  [named, 'kanban.example', undefined, 'accepted'],
  [named, 'evil.kanban.example', undefined, 'forbidden'],
  [named, 'kanban.example', 'https://kanban.example', 'accepted'],
  [named, 'kanban.example', 'http://kanban.example', 'forbidden'],
  [named, 'kanban.example', 'https://kanban.example.evil.example', 'forbidden'],
  [named, 'localhost:3000', 'http://localhost:3000', 'forbidden'],
  [listeningOnName, 'kanban.internal:3000', undefined, 'accepted'],
])('a request is judged by its Host and Origin (%#: %o, host %s, origin %s)', (check, host, origin, expected) => {
  expect(answer(check, host, origin)).toBe(expected)
})
