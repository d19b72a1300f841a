import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { newFolder } from './run.ts'

const root = resolve(import.meta.dirname, '../..')
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')

/** Compiles a program as someone does who uses the client with TypeScript. @returns the messages of the compiler */
export async function compile(program: string): Promise<string> {
  const folder = newFolder()
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
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
    paths: { 'lanekeeper-client': [join(root, 'src/client/client.ts')] },
    allowImportingTsExtensions: true,
  }
  const files = {
    'program.ts': program,
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({ compilerOptions, files: ['program.ts'] }),
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return new Promise((done) => execFile(process.execPath, [compiler, '-p', folder], (_error, stdout, stderr) => done(stdout + stderr)))
}
