import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isAlias, isNode, parseDocument, visit } from 'yaml'
import { readAtBuild } from '../../src/policy/read-at-build.ts'
import { readSource } from '../../src/policy/source.ts'
import { filesBelow, readText } from '../lint/syntax.ts'
import { shippedFiles } from '../support/policy.ts'
import { requireBuild } from '../support/process.ts'

const { readYaml } = (await import(new URL('../../src/build/bundle.js', import.meta.url).href)) as {
  readYaml: (folder: string) => Promise<ReadonlyMap<string, string>>
}
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const texts = [...Object.values(shippedFiles).map(({ text }) => text), readText('fixtures/world.yaml')]

describe('the data that the build reads', () => {
  let read: ReadonlyMap<string, string>
  // Within the package: the reader imports the package yaml.
  const folder = mkdtempSync(join(import.meta.dirname, '../../dist/.reader-'))
  beforeAll(async () => void (read = await readYaml(folder)))
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(texts)('equals the data that the package yaml reads, and is plain: %.60s', (text) => {
    const document = parseDocument(text, { merge: false, uniqueKeys: true, schema: 'core', prettyErrors: false })
    const remarks = [...document.errors, ...document.warnings].map(({ message }) => message)
    visit(document, (_key, node) => {
      if (isAlias(node)) remarks.push('an alias')
      else if (isNode(node) && (node.anchor !== undefined || node.tag !== undefined)) remarks.push('an anchor or a tag')
    })
    expect(remarks).toEqual([])
    expect(JSON.parse(read.get(hashOf(text))!)).toStrictEqual(document.toJS())
  })

  test('is the policy and the demo data, and it is in the bundle', () => {
    requireBuild()
    expect([...read.keys()].toSorted()).toEqual(texts.map(hashOf).toSorted())
    const bundle = filesBelow('dist/bundle').map(readText).join('\n')
    expect([...read.keys()].filter((hash) => !bundle.includes(hash))).toEqual([])
  })
})

describe('a text', () => {
  const text = 'version: 1\nrules: written\n'
  const known = readAtBuild as Map<string, string>
  beforeEach(() => void known.set(hashOf(text), '{"version":1,"rules":"known"}'))
  afterEach(() => known.clear())

  test('that the build has read is not read again, and its diagnostics have their positions', () => {
    const { data, diagnostic } = readSource({ path: 'a.yaml', text })
    expect(data).toEqual({ version: 1, rules: 'known' })
    expect(diagnostic(['rules'], 'wrong')).toMatchObject({ line: 2, column: 8, text: 'rules: written' })
  })

  test.each([`${text}\n`, text.slice(0, -1), text.replace('written', 'changed')])('that the build has not read is read: %j', (other) => {
    const rules = /rules: (\w+)/.exec(other)![1]!
    expect(readSource({ path: 'a.yaml', text: other }).data).toEqual({ version: 1, rules })
  })
})
