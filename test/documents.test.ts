import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../src/cli/program.ts'
import { settingNames, settingSource } from '../src/config.ts'
import { operations } from '../src/resources/table.ts'
import { filesBelow, readText } from './lint/syntax.ts'
import { blockOf, blocksOf, pages, type Block } from './support/documents.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const FIRST = 'README.md'

describe('the pages', () => {
  /** Pages of any length: they are generated. */
  const GENERATED = new Set(['policies/matrix.md', 'src/http/operations.md'])

  test('have at most 250 lines, and the README 110', () => {
    const long = pages.filter((page) => !GENERATED.has(page) && readText(page).split('\n').length - 1 > (page === FIRST ? 110 : 250))
    expect(long).toEqual([])
  })

  test('are reachable by links from the README', () => {
    const reached = new Set([FIRST])
    for (const page of reached) for (const { target } of linksOf(page)) if (pages.includes(target)) reached.add(target)
    // GitHub shows it to those who open a pull request.
    expect(pages.filter((page) => !reached.has(page))).toEqual(['.github/PULL_REQUEST_TEMPLATE.md'])
  })

  test('have no broken link and no broken anchor', () => {
    expect(pages.flatMap((page) => brokenLinks(page))).toEqual([])
  })

  test('a broken link, a broken anchor and a link out of the repository are found', () => {
    const text =
      '[a](absent.md) [b](README.md#no-such-heading) [c](#here) `[d](absent.md)` [e](README.md#start) [f](../outside.md)\n## Here\n'
    expect(brokenLinks('x.md', text)).toEqual(['x.md: absent.md', 'x.md: README.md#no-such-heading', 'x.md: ../outside.md'])
  })
})

interface Link {
  readonly href: string
  /** the path that it leads to, relative to the root of the repository */
  readonly target: string
  readonly anchor: string | undefined
}

/** What GitHub shows as text: neither fenced blocks nor code. */
function proseOf(text: string): string {
  return text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').replaceAll(/`[^`\n]*`/g, (code) => 'x'.repeat(code.length))
}

/** The links of a page that lead into the repository. */
function linksOf(page: string, text: string = readText(page)): Link[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href]) => {
    if (/^[a-z]+:/.test(href!)) return []
    const [path, anchor] = href!.split('#') as [string, string | undefined]
    return [{ href: href!, target: path === '' ? page : normalize(join(dirname(page), path)), anchor }]
  })
}

function brokenLinks(page: string, text: string = readText(page)): string[] {
  return linksOf(page, text).flatMap(({ href, target, anchor }) => {
    const exists = target === page || (!target.startsWith('..') && existsSync(join(root, target)))
    const found = anchor === undefined || (exists && anchorsOf(target === page ? text : readText(target)).has(anchor))
    return exists && found ? [] : [`${page}: ${href}`]
  })
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading] of text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const count = [...anchors].filter((anchor) => anchor === slug || anchor.replace(/-\d+$/, '') === slug).length
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** Blocks that no suite runs. `ci`: a line of `.ci/run` that runs it. A page without a text: all of its blocks. */
const NOT_RUN_BY_A_SUITE: readonly { readonly page: string; readonly text?: string; readonly ci?: string; readonly reason: string }[] = [
  { page: FIRST, text: 'npm ci && npm start', ci: 'npm start', reason: 'It installs the dependencies.' },
  { page: 'src/client/README.md', text: 'npm ci && npm pack', ci: 'npm pack', reason: 'It installs the client.' },
  { page: FIRST, text: 'npm test', ci: 'npm test', reason: 'It runs the suites.' },
  { page: FIRST, text: 'request ──▶', reason: 'It is a picture.' },
  { page: 'src/settings.md', text: 'npm start', ci: 'npm start', reason: 'It builds the service. The options are checked below.' },
  { page: 'src/http/limits.md', reason: 'It shows headers.' },
  {
    page: 'src/client/README.md',
    text: 'lk.changes(',
    reason: 'It goes on for good. test/client/documented-examples.test.ts compiles it, and test/client/changes.test.ts tests what it does.',
  },
  { page: 'src/mcp/README.md', text: 'claude mcp add', reason: 'It needs Claude Code.' },
  { page: 'fixtures/deployment/README.md', text: 'docker build', reason: 'It needs Docker. test/start/container.test.ts reads its files.' },
  { page: 'src/auth/identity-provider.md', reason: 'They are settings. test/start/config.test.ts reads such ones.' },
  { page: 'test/README.md', reason: 'They run the suites, or programs from the network.' },
  { page: 'test/compatibility/README.md', ci: 'npm run test:compatibility', reason: 'It installs the clients, and runs their suites.' },
  { page: 'test/bench/README.md', reason: 'They take minutes. test/bench/bench.test.ts runs each table.' },
  { page: '.github/CONTRIBUTING.md', reason: 'They are for a clone that someone works in.' },
]

describe('the blocks of commands, programs and configurations', () => {
  const blocks = pages.flatMap((page) => blocksOf(page)).filter(({ language }) => language !== 'mermaid')
  /** The calls of `blockOf` in the suites. */
  const calls = filesBelow('test')
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) =>
      [...readText(path).matchAll(/blockOf\(\s*'([^']+)',\s*'([^'\n]+)',?\s*\)/g)].map(([, page, text]) => ({ page: page!, text: text! })),
    )
  const isIn = ({ page, text }: Block, one: { readonly page: string; readonly text?: string }) =>
    page === one.page && (one.text === undefined || text.includes(one.text))

  test('are run by a suite, or have a reason why not', () => {
    expect(calls.length).toBeGreaterThan(15)
    const missing = blocks.filter(
      (block) => !calls.some((call) => isIn(block, call)) && !NOT_RUN_BY_A_SUITE.some((one) => isIn(block, one)),
    )
    expect(missing.map(({ page, line, text }) => `${page}:${line}  ${text.split('\n')[0]}`)).toEqual([])
  })

  test('exist for each reason and each call, and CI runs the commands that a reason says it runs', () => {
    for (const { page, text } of calls) expect(blockOf(page, text)).toContain(text)
    expect(NOT_RUN_BY_A_SUITE.filter((one) => !blocks.some((block) => isIn(block, one)))).toEqual([])
    const script = readText('.ci/run')
    expect(NOT_RUN_BY_A_SUITE.flatMap(({ ci = '' }) => (script.includes(ci) ? [] : ci))).toEqual([])
  })

  test('quote the rules of the policy as they stand there', () => {
    for (const rule of [blockOf('README.md', 'id: D1.private'), blockOf('README.md', 'id: P5')])
      expect(readText('policies/permissions.yaml')).toContain(`\n${rule}`)
  })

  test('name the package file of the present version', () => {
    const { version } = JSON.parse(readText('package.json')) as { version: string }
    expect(blockOf('src/client/README.md', 'npm ci && npm pack')).toContain(`/lanekeeper-client-${version}.tgz`)
  })
})

/** Every command of `lanekeeper` in a page, in blocks and in the text: its words after the name. */
function commandsOf(page: string): string[][] {
  const text = readText(page)
  const inBlocks = blocksOf(page).flatMap((block) => (block.language === 'sh' ? block.text.replaceAll('\\\n', ' ').split('\n') : []))
  const inText = [...text.replaceAll(/^( *)```[\s\S]*?^\1```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!)
  return [...inBlocks, ...inText].flatMap((line) =>
    [...line.replace(/ +#.*$/, '').matchAll(/(?:^|[ (/])(?:lanekeeper|npm start --) ([^|;&>)]+)/g)].map(([whole, words]) => [
      ...(whole.includes('npm start') ? ['serve'] : []),
      ...words!.trim().split(/\s+/),
    ]),
  )
}

describe('every command of lanekeeper in a page', () => {
  const program = createProgram()
  const ids = new Set<string>(operations.map(({ id }) => id))

  /** What is wrong with a command. */
  function mistakes(words: readonly string[]): string[] {
    let command: Command = program
    let rest = [...words]
    for (let next; (next = command.commands.find((one) => one.name() === rest[0])) !== undefined; rest = rest.slice(1)) command = next
    if (command.commands.length > 0) return /^[a-z][a-z-]*$/.test(rest[0] ?? '') ? [`no command ${rest[0]}`] : []
    if (command.name() === 'api') return rest[0] === undefined || ids.has(rest[0]) ? [] : [`no operation ${rest[0]}`]
    const known = new Set(['--help', ...command.options.flatMap(({ long, short }) => [long, short])])
    return rest.flatMap((word) =>
      /^-[-a-z]/.test(word) && !known.has(word.split('=')[0]!) ? [`no option ${word} of ${command.name()}`] : [],
    )
  }

  test('exists, and so do its options', () => {
    const found = pages.flatMap((page) => commandsOf(page).map((words) => ({ page, words })))
    expect(found.length).toBeGreaterThan(30)
    expect(found.flatMap(({ page, words }) => mistakes(words).map((mistake) => `${page}: ${words.join(' ')}: ${mistake}`))).toEqual([])
  })

  test('a mistyped command, option or operation is found', () => {
    expect(['bakup --out x', 'backup --outt x', 'api board.create', 'policy tset'].map((line) => mistakes(line.split(' ')).length)).toEqual(
      [1, 1, 1, 1],
    )
  })
})

test('every script of npm in a page exists', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
  const named = pages.flatMap((page) => [...readText(page).matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name!))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
})

describe('the steps of a request in src/README.md', () => {
  const KINDS = ['list', 'read', 'write'] as const
  const source = readText('src/http/pipeline.ts')
  /** The steps of a chain in `pipeline.ts`, with the statuses in the comment after each. A chain goes on from a constant, or begins. */
  function stepsOf(chain: string): { readonly name: string; readonly statuses: readonly string[] }[] {
    const [, shared, added] = new RegExp(`\\b${chain}(?: =|:) (?:([A-Z]+)|new StepList\\(\\))((?:\\s*\\.add\\(steps.*)+)`).exec(source)!
    const own = added!.split('\n').flatMap((line) => {
      const name = /\.add\(steps\.(\w+)\)/.exec(line)?.[1]
      return name === undefined ? [] : { name, statuses: line.match(/\b[45]\d\d\b/g) ?? [] }
    })
    return shared === undefined ? own : [...stepsOf(shared), ...own]
  }
  const rows = [...readText('src/README.md').matchAll(/^\| `(\w+)` \|( ●)? \|( ●)? \|( ●)? \| [^|]+ \|((?: \d{3})*) \|$/gm)]

  test.each(KINDS)('are the steps of the pipeline, for a %s', (kind) => {
    const listed = rows.filter((row) => row[2 + KINDS.indexOf(kind)] !== undefined).map(([, name]) => name)
    expect(listed).toEqual(stepsOf(kind).map(({ name }) => name))
  })

  test('refuse requests with the statuses that the pipeline states', () => {
    const stated = Object.fromEntries(
      rows.map(([, name, , , , statuses]) => [name, statuses!.trim().split(' ').filter(Boolean).toSorted()]),
    )
    const all = KINDS.flatMap(stepsOf)
    const expected = all.map(({ name }) => [
      name,
      [...new Set(all.filter((one) => one.name === name).flatMap((one) => one.statuses))].toSorted(),
    ])
    expect(stated).toEqual(Object.fromEntries(expected))
  })
})

describe('the table of settings', () => {
  const known = settingNames.flatMap((name) => settingSource(name).env ?? [])
  const rows = (page: string) =>
    [...readText(page).matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!),
    )

  test('has every variable', () => {
    expect(rows('src/settings.md').toSorted()).toEqual(known.toSorted())
  })
})
