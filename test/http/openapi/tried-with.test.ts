import { describe, expect, test } from 'vitest'
import { overview } from '../../../src/http/openapi/overview.ts'
import { httpClients, mcpClients, versionsInWords } from '../../../src/http/openapi/tried-with.ts'
import { filesBelow, readText } from '../../lint/syntax.ts'

// What the pages say was tried is what test/compatibility installs.

const folder = 'test/compatibility'
/** Packages of their own, each with its adapter. */
const workspaces = ['n8n/', 'mastra-0/']
/** By the folders that they are installed in. */
const installed = new Map(
  ['', ...workspaces].flatMap((workspace) => {
    const { dependencies } = JSON.parse(readText(`${folder}/${workspace}package.json`)) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    return Object.entries(dependencies).map(([alias, source]) => {
      const [, name = alias, version = source] = /^npm:(.+)@(.+)$/.exec(source) ?? []
      return [`${workspace === '' ? '' : `${workspace}node_modules/`}${alias}`, `${name} ${version}`] as const
    })
  }),
)
const stated = Object.entries(mcpClients).flatMap(([name, versions]) => versions.map((version) => `${name} ${version}`))

describe('the MCP clients that the pages name', () => {
  test('are those that the suites drive, in the versions that they install', () => {
    const adapters = [...filesBelow(`${folder}/mcp/clients`), ...workspaces.map((workspace) => `${folder}/${workspace}client.ts`)]
    const folders = adapters.flatMap((path) => [...readText(path).matchAll(/folder: '(.+)'/g)].map(([, name]) => name!))
    expect(folders.length).toBeGreaterThanOrEqual(stated.length)
    expect([...new Set(folders.map((name) => installed.get(name)))].toSorted()).toEqual(stated.toSorted())
  })

  test('have the same versions in the page about MCP', () => {
    const page = readText('src/mcp/README.md')
    const rows = [...page.matchAll(/^\| `([^`]+)` \| (\d[\d., ]*\d) \|/gm)].map(([, name, versions]) => [name, versions!.split(', ')])
    expect(Object.fromEntries(rows)).toEqual(mcpClients)
  })

  test('are a sentence, which /docs has', () => {
    expect(overview({ uploadBytes: 1, quotas: undefined })).toContain(versionsInWords(mcpClients))
    expect(versionsInWords({ a: ['3', '2', '1'], b: ['4'] })).toBe('`a` 3, 2 and 1; `b` 4')
  })
})

describe('the generators and libraries that the pages name', () => {
  test('are installed in these versions, and named by a suite', () => {
    const paths = ['generators/generate.ts', 'generators/adapters', 'http'].flatMap((path) =>
      path.endsWith('.ts') ? [`${folder}/${path}`] : filesBelow(`${folder}/${path}`),
    )
    const text = paths.map((path) => readText(path)).join('\n')
    for (const [name, versions] of Object.entries(httpClients)) {
      expect([installed.get(name)]).toEqual(versions.map((version) => `${name} ${version}`))
      expect([name, new RegExp(`['\\s]${name}['\\s:]`).test(text)]).toEqual([name, true])
    }
  })

  test('have the same versions in the guide, and in /docs', () => {
    const rows = [...readText('src/http/README.md').matchAll(/^\| `([^`]+)` \| (\d[\d.]*\d) \|/gm)]
    expect(Object.fromEntries(rows.map(([, name, version]) => [name, [version]]))).toEqual(httpClients)
    expect(overview({ uploadBytes: 1, quotas: undefined })).toContain(versionsInWords(httpClients))
  })
})

test('the page about webhooks names the library that verifies deliveries, in the version that is installed', () => {
  const { devDependencies } = JSON.parse(readText('package.json')) as { readonly devDependencies: Readonly<Record<string, string>> }
  expect(readText('src/http/webhooks.md')).toContain(`\`standardwebhooks\` ${devDependencies['standardwebhooks']} `)
})
