import { execFile } from 'node:child_process'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { clientExample } from '../../src/web/tokens/plaintext.ts'
import { newFolder } from '../support/run.ts'

const root = resolve(import.meta.dirname, '../..')
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

const folder = newFolder()
beforeAll(async () => {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
})

/** Compiles a program as someone does who uses the client with TypeScript. @returns the messages of the compiler */
async function compile(name: string, program: string): Promise<string> {
  await writeFile(join(folder, `${name}.ts`), program)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleDetection: 'force',
    types: ['node'],
    skipLibCheck: true,
    // The source of the client stands for its declarations, which only the package has.
    paths: { 'lanekeeper/client': [join(root, 'src/client/client.ts')] },
    allowImportingTsExtensions: true,
  }
  const config = join(folder, `${name}.json`)
  await writeFile(config, JSON.stringify({ compilerOptions, files: [`${name}.ts`] }))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  return new Promise((done) => execFile(process.execPath, [compiler, '-p', config], (_error, stdout, stderr) => done(stdout + stderr)))
}

/** The examples for the client in all documents. */
async function documentedExamples(): Promise<string[]> {
  const folders = ['src', 'policies', 'fixtures', 'test'].map((name) =>
    readdir(join(root, name), { recursive: true }).then((files) => files.map((file) => join(name, file))),
  )
  const files = [...(await readdir(root)), ...(await Promise.all(folders)).flat()].filter((file) => file.endsWith('.md'))
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))
  const blocks = texts.flatMap((text) =>
    [...text.matchAll(/^ *```(?:js|ts|javascript|typescript)\n([\s\S]*?)^ *```/gm)].map(([, block]) => block!),
  )
  return blocks.filter((block) => block.includes("from 'lanekeeper/client'"))
}

test('the examples for the client in the documents compile under strict', async () => {
  const examples = await documentedExamples()
  expect(examples.length).toBeGreaterThan(0)
  for (const [i, example] of examples.entries()) expect(await compile(`documented-${i}`, example), example).toBe('')
  const worker = examples.find((example) => example.includes('card.title'))!
  expect(await compile('misspelt-member', worker.replace('card.title', 'card.titel'))).toContain("Property 'titel' does not exist")
})

test('the example on the page of a new token compiles under strict', async () => {
  expect(await compile('new-token', clientExample('https://kanban.example', 'lk_pat_test'))).toBe('')
})
