import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDemo, type DemoService } from '../demo.ts'
import { playScenario, type Connect } from '../scenario.ts'
import { compileClients, generateClients } from './generate.ts'

/** The generators by the names of their packages: the program that calls what each one generated, and where that is. */
const GENERATORS: Readonly<Record<string, { readonly adapter: string; readonly generated: string }>> = {
  'openapi-typescript': { adapter: 'openapi-fetch', generated: '.generated/openapi-typescript.ts' },
  '@hey-api/openapi-ts': { adapter: 'hey-api', generated: '.generated/hey-api/' },
  orval: { adapter: 'orval', generated: '.generated/orval.ts' },
  'swagger-typescript-api': { adapter: 'swagger-typescript-api', generated: '.generated/swagger-typescript-api/' },
  oazapfts: { adapter: 'oazapfts', generated: '.generated/oazapfts.ts' },
  'openapi-typescript-codegen': { adapter: 'openapi-typescript-codegen', generated: '.generated/openapi-typescript-codegen/' },
  'typed-openapi': { adapter: 'typed-openapi', generated: '.generated/typed-openapi.ts' },
  '@kubb/cli': { adapter: 'kubb', generated: '.generated/kubb/' },
  'openapi-zod-client': { adapter: 'openapi-zod-client', generated: 'zodios/.generated/' },
  'openapi-client-axios': { adapter: 'openapi-client-axios', generated: 'nothing' },
}

let service: DemoService
let failures: ReadonlyMap<string, string>
let errors: readonly string[]
beforeAll(async () => {
  service = await startDemo()
  failures = await generateClients(service.url)
  errors = await compileClients()
})
afterAll(() => service.stop())

describe.each(Object.entries(GENERATORS))('%s', (name, { adapter, generated }) => {
  test('generates a client, which compiles with the program that calls it', () => {
    expect(failures.get(name)).toBeUndefined()
    const program = `generators/adapters/${adapter}.ts`
    expect(errors.filter((error) => error.startsWith(generated) || error.startsWith(program))).toEqual([])
  })

  test('calls the service with it', async () => {
    const { connect } = (await import(`./adapters/${adapter}.ts`)) as { connect: Connect }
    const url = `${service.url}/v1`
    await playScenario(
      await connect(url, service.tokenOf('kanban:write')),
      await connect(url, service.tokenOf('kanban:admin', 'Adrian Cole')),
    )
  })
})

test('no error is in another file', () => {
  const known = Object.values(GENERATORS).flatMap(({ adapter, generated }) => [generated, `generators/adapters/${adapter}.ts`])
  expect(errors.filter((error) => !known.some((path) => error.startsWith(path)))).toEqual([])
})
