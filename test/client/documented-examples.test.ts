import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { clientExample } from '../../src/web/tokens/plaintext.ts'
import { compile } from '../support/compile.ts'
import { sample } from '../support/sample.ts'

const root = resolve(import.meta.dirname, '../..')

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
  return blocks.filter((block) => block.includes("from 'lanekeeper-client'"))
}

test('the examples for the client in the documents compile under strict', async () => {
  const examples = await documentedExamples()
  expect(examples.length).toBeGreaterThan(0)
  for (const example of sample(examples, 2)) expect(await compile(example), example).toBe('')
  const worker = examples.find((example) => example.includes('card.title'))!
  expect(await compile(worker.replace('card.title', 'card.titel'))).toContain("Property 'titel' does not exist")
})

/** What the types of a batch refuse. */
const mistakes: [right: string, wrong: string, message: RegExp][] = [
  ["operation: 'columns.create'", "operation: 'columns.created'", /columns\.created/],
  ["body: { name: 'To do' } }, // $0", 'body: { title: 1 } }, // $0', /title/],
  ["color: '#2da44e' }", '}', /color/],
  ['{ card_id: ', '{ column_id: ', /column_id/],
  // A batch has the scope kanban:write, so it refuses what requires kanban:admin.
  [
    "operation: 'cards.complete', params: { card_id: '$2' }, body: { completed: true }",
    "operation: 'cards.delete', params: { card_id: '$2' }",
    /cards\.delete/,
  ],
  ["operation: 'columns.create', body: { name: 'To do' }", "operation: 'webhooks.test', params: { webhook_id: '' }", /webhooks\.test/],
  [', body: { completed: true } }', ' }', /completed|body/],
  ['result.data.title)', 'result.data.titel)', /titel/],
]

// Each compiles a program.
test.each(sample(mistakes, 3))('the types of a batch refuse a mistake: %s → %s', async (right, wrong, message) => {
  const batch = (await documentedExamples()).find((example) => example.includes(right))!
  expect(await compile(batch.replace(right, wrong))).toMatch(message)
})

test('the example on the page of a new token compiles under strict', async () => {
  expect(await compile(clientExample('https://kanban.example', 'lk_pat_test'))).toBe('')
})
