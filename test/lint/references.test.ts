import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, isFile, readText } from './syntax.ts'

// A comment that cites a document must lead a reader to it: to a file of the repository, and in quotes to a heading of that file.

/** The sections of the specification that comments cite as "spec §5", with the headings below them. The specification is no file here. */
const SPECIFICATION_SECTIONS = 9
const SPECIFICATION_HEADINGS = new Set([
  'Response envelope',
  'Account',
  'Member directory entry',
  'Personal access token (PAT)',
  'Token lifecycle',
  'Resource states',
  'Credential',
  'Scopes',
  'Scope and permission per operation',
  'Outcomes',
  'Rules',
])

const headingsOf = (path: string) => [...readText(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)

/** A comment, or several lines of them without anything between. Without the marks of comments, on one line. */
function* commentsOf(text: string): Generator<{ readonly line: number; readonly comment: string }> {
  for (const { 0: found, index } of text.matchAll(/\/\*\*?[\s\S]*?\*\/|(?<=^|\s)\/\/ .*(?:\n\s*\/\/ .*)*/g)) {
    const line = text.slice(0, index).split('\n').length + (found.startsWith('\n') ? 1 : 0)
    yield { line, comment: found.replaceAll(/\s*\n\s*(?:\*\/?|\/\/)?\s*/g, ' ') }
  }
}

/** What is wrong with the references of the comments of a file, each as `path:line: what`. */
function findDeadReferences(path: string, text: string): string[] {
  return [...commentsOf(text)].flatMap(({ line, comment }) => {
    const wrong: string[] = []
    if (/\bcontract,? \d/i.test(comment)) wrong.push('the contract is no document of the repository')
    for (const [, page, after] of comment.matchAll(/(?<![\w./-])([\w./-]+\.md)((?:,? (?:and )?"[^"]+")*)/g)) {
      const target = [page!, join(dirname(path), page!)].find(isFile)
      if (target === undefined) wrong.push(`there is no ${page}`)
      else
        for (const [, heading] of after!.matchAll(/"([^"]+)"/g))
          if (!headingsOf(target).includes(heading!)) wrong.push(`${page} has no heading "${heading}"`)
    }
    for (const [, heading, page] of comment.matchAll(/"([^"]+)" (?:in|of) ([\w./-]+\.md)/g))
      if (isFile(page!) && !headingsOf(page!).includes(heading!)) wrong.push(`${page} has no heading "${heading}"`)
    for (const [, section, heading] of comment.matchAll(/\bspec §(\d*)(?:,? "([^"]+)")?/g)) {
      if (!(Number(section) >= 1 && Number(section) <= SPECIFICATION_SECTIONS)) wrong.push(`the specification has no section "${section}"`)
      if (heading !== undefined && !SPECIFICATION_HEADINGS.has(heading)) wrong.push(`the specification has no heading "${heading}"`)
    }
    if (/\bRFC (?!\d{3,4}\b|N\b)/.test(comment)) wrong.push('an RFC without a number')
    return wrong.map((what) => `${path}:${line}: ${what}`)
  })
}

test('each document that a comment cites exists, with the heading that is cited', () => {
  const paths = ['src', 'test', 'policies', 'fixtures'].flatMap(filesBelow).filter((path) => path.endsWith('.ts'))
  expect(
    paths.filter((path) => path !== 'test/lint/references.test.ts').flatMap((path) => findDeadReferences(path, readText(path))),
  ).toEqual([])
})

test.each([
  ['// See src/http/absent.md.', 'there is no src/http/absent.md'],
  ['/** A cost (src/http/limits.md, "No such heading"). */', 'src/http/limits.md has no heading "No such heading"'],
  ['/**\n * A cost (src/http/limits.md, "What a request costs" and\n * "None").\n */', 'src/http/limits.md has no heading "None"'],
  ['// What "No such heading" in src/http/limits.md says.', 'src/http/limits.md has no heading "No such heading"'],
  ['// As decided (api: Contract 3, number 9).', 'the contract is no document of the repository'],
  ['// As decided (spec §12).', 'the specification has no section "12"'],
  ['// As decided (spec §5 "No such heading").', 'the specification has no heading "No such heading"'],
  ['// As an RFC says.\n// As RFC says.', 'an RFC without a number'],
])('%j is a dead reference', (text, what) => {
  expect(findDeadReferences('src/x.ts', text)).toEqual([`src/x.ts:1: ${what}`])
})

test.each([
  '// What a request costs (src/http/limits.md, "What a request costs").',
  '// See README.md, spec §5 "Credential" 5, RFC 9110 §13.1.1.',
  "const text = 'See absent.md'",
])('%j has no dead reference', (text) => {
  expect(findDeadReferences('src/x.ts', text)).toEqual([])
})
