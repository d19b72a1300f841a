import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const folder = fileURLToPath(new URL('..', import.meta.url))
/** Where clients are generated: below `test/compatibility`, so that they find their packages. */
const PLACE = '.generated'

/** How each generator is called: its command, and what it has to print where. @param document a file @param url of the API */
const COMMANDS: Readonly<Record<string, (document: string, url: string) => readonly string[] | Promise<readonly string[]>>> = {
  'openapi-typescript': (document) => ['openapi-typescript', document, '-o', `${PLACE}/openapi-typescript.ts`],
  '@hey-api/openapi-ts': (document) => [
    'openapi-ts',
    '-i',
    document,
    '-o',
    `${PLACE}/hey-api`,
    '-c',
    '@hey-api/client-fetch',
    '--no-log-file',
  ],
  orval: async (document, url) => {
    const output = { target: `${folder}${PLACE}/orval.ts`, client: 'fetch', httpClient: 'fetch', baseUrl: url }
    await writeFile(
      `${folder}${PLACE}/orval.config.mjs`,
      `export default { api: ${JSON.stringify({ input: `${folder}${document}`, output })} }\n`,
    )
    return ['orval', '--config', `${PLACE}/orval.config.mjs`]
  },
  'swagger-typescript-api': (document) => [
    'swagger-typescript-api',
    'generate',
    '-p',
    document,
    '-o',
    `${PLACE}/swagger-typescript-api`,
    '-n',
    'api.ts',
  ],
  oazapfts: (document) => ['oazapfts', document, `${PLACE}/oazapfts.ts`],
  'openapi-typescript-codegen': (document) => ['openapi', '-i', document, '-o', `${PLACE}/openapi-typescript-codegen`],
  'typed-openapi': (document) => ['typed-openapi', document, '-o', `${PLACE}/typed-openapi.ts`],
  '@kubb/cli': async (document) => {
    await writeFile(`${folder}${PLACE}/kubb.config.mjs`, kubbConfig(document))
    return ['kubb', 'generate', '--config', `${PLACE}/kubb.config.mjs`]
  },
  'openapi-zod-client': (document) => ['openapi-zod-client', document, '-o', `zodios/${PLACE}/client.ts`],
}

function kubbConfig(document: string): string {
  return `import { defineConfig } from '@kubb/core'
import { pluginClient } from '@kubb/plugin-client'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'
export default defineConfig({
  root: '.',
  input: { path: './${document}' },
  output: { path: './${PLACE}/kubb', clean: true, format: false, lint: false },
  plugins: [pluginOas({ generators: [] }), pluginTs(), pluginClient({ client: 'fetch' })],
})
`
}

/**
 * Generates clients from the document of a running service.
 * @param origin of the service
 * @returns what each generator printed when it failed, by the name of its package
 */
export async function generateClients(origin: string): Promise<ReadonlyMap<string, string>> {
  for (const place of [PLACE, `zodios/${PLACE}`]) {
    await rm(`${folder}${place}`, { recursive: true, force: true })
    await mkdir(`${folder}${place}`)
  }
  const document = `${PLACE}/openapi.json`
  await writeFile(`${folder}${document}`, await (await fetch(`${origin}/openapi.json`)).text())
  const failures = new Map<string, string>()
  const waiting = Object.entries(COMMANDS)
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [name, commandOf] = next
      const [program, ...args] = await commandOf(document, `${origin}/v1`)
      await run(`${folder}node_modules/.bin/${program}`, args, { cwd: folder, maxBuffer: 1 << 26 }).catch(({ stdout, stderr }) =>
        failures.set(name, `${stdout}\n${stderr}`),
      )
    }
  }
  await Promise.all([work(), work()])
  return failures
}

/** Compiles the generated clients and the programs that call them. @returns the errors, one a line, by paths below `test/compatibility` */
export async function compileClients(): Promise<readonly string[]> {
  const options = ['-p', 'generators/tsconfig.json', '--pretty', 'false']
  const { stdout } = await run(`${folder}node_modules/.bin/tsc`, options, { cwd: folder, maxBuffer: 1 << 26 }).catch(
    (error: { stdout: string }) => error,
  )
  return stdout.split('\n').filter((line) => line.includes('error TS'))
}
