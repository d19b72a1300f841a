import { createInterface, type Interface } from 'node:readline/promises'
import type { Command } from 'commander'
import type { z } from 'zod'
import type { Installation } from '../admin/init.ts'
import { ConfigError, readUrl, readStorage } from '../config.ts'
import { emailAddress } from '../model/account.ts'
import { displayName, workspaceName } from '../model/workspace.ts'
import { addAdminCommand, addSetting, noIo, runOnStorage, type CommonOptions } from './command.ts'
import { cell } from './text.ts'

/** The storage that is proposed where none is set. */
const PROPOSED_STORAGE = 'fs:./data'

const questions = {
  workspace: { text: 'Name of the workspace', schema: workspaceName },
  owner: { text: 'Your name', schema: displayName },
  email: { text: 'Your e-mail address', schema: emailAddress },
} as const
type Answers = { readonly [name in keyof typeof questions]: string }
type InitOptions = CommonOptions & Partial<Answers> & { readonly url?: string }

/** Asks for a line of text. Resolves with undefined at the end of the input. */
type Ask = (question: string) => Promise<string | undefined>

/** Adds `lanekeeper init`. */
export function addInitCommand(program: Command): void {
  addSetting(addAdminCommand(program, 'init', 'create the first workspace and its owner, and print their one-time sign-up link'), 'url')
    .option('--workspace <name>', 'the name of the workspace')
    .option('--owner <name>', 'the name of its owner')
    .option('--email <address>', 'the e-mail address that the sign-up form suggests to the owner')
    .action(async (options: InitOptions) => {
      const terminal = process.stdin.isTTY === true ? openTerminal() : undefined
      try {
        const { storage, answers } = await complete(options, terminal?.ask)
        const url = readUrl(options, process.env)
        const result = (await runOnStorage(
          { ...options, ...(storage !== undefined && { storage }) },
          'init',
          { ...answers, url },
          noIo,
        )) as Installation
        console.log(options.json === true ? JSON.stringify(result) : describe(result, storage ?? options.storage))
      } finally {
        terminal?.lines.close()
      }
    })
}

/** Questions go to stderr: stdout has only the result. */
function openTerminal(): { lines: Interface; ask: Ask } {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Unlike `question`, the iterator keeps lines that were entered before they are asked for.
  const entered = lines[Symbol.asyncIterator]()
  const ask: Ask = async (question) => {
    lines.setPrompt(question)
    lines.prompt()
    const { done, value } = await entered.next()
    return done === true ? undefined : value
  }
  return { lines, ask }
}

/**
 * Completes the options with answers.
 * @param ask undefined: there is no terminal
 * @returns the storage, if it was asked for
 * @throws {ConfigError} if something is missing or invalid
 */
export async function complete(
  options: Partial<Answers> & CommonOptions,
  ask: Ask | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ storage?: string; answers: Answers }> {
  const names = Object.keys(questions) as (keyof Answers)[]
  const missing = names.filter((name) => options[name] === undefined)
  if (ask === undefined && missing.length > 0)
    throw new ConfigError(`without a terminal, init needs ${missing.map((name) => `--${name}`).join(', ')}`)
  const answers: Partial<Record<keyof Answers, string>> = {}
  for (const name of names) {
    const given = options[name]
    if (given !== undefined) answers[name] = validate(`--${name}`, questions[name].schema, given)
  }
  const storage =
    ask === undefined || readStorage(options, env).storage !== 'memory'
      ? undefined
      : await askUntilValid(ask, `Storage [${PROPOSED_STORAGE}]`, (text) => text || PROPOSED_STORAGE)
  for (const name of missing)
    answers[name] = await askUntilValid(ask!, questions[name].text, (text) => validate(questions[name].text, questions[name].schema, text))
  return { ...(storage !== undefined && { storage }), answers: answers as Answers }
}

function validate(name: string, schema: z.ZodType<string>, text: string): string {
  const parsed = schema.safeParse(text)
  if (parsed.success) return parsed.data
  throw new ConfigError(`${name}: ${parsed.error.issues[0]!.message}`)
}

async function askUntilValid(ask: Ask, question: string, read: (text: string) => string): Promise<string> {
  for (;;) {
    const text = await ask(`${question}: `)
    if (text === undefined) throw new ConfigError('init was cancelled; nothing was created')
    try {
      return read(text.trim())
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      process.stderr.write(`  ${error.message}\n`)
    }
  }
}

/** @param storage what the next command needs as an option */
function describe(
  { workspace, workspace_id, owner, user_id, email, sign_up_link, link_expires_at }: Installation,
  storage: string | undefined,
): string {
  // The address of a Redis may have a password.
  const address = storage === undefined || storage.startsWith('fs:') ? storage : '…'
  const serve = ['lanekeeper serve', ...(address === undefined ? [] : ['--storage', address])].join(' ')
  return [
    `Created the workspace ${cell(workspace)} (${workspace_id}) and its owner ${cell(owner)} (${user_id}).`,
    '',
    `1. Start the service, if it does not run yet: ${serve}`,
    `2. Open this link once, before ${link_expires_at}, and sign up as ${cell(email)}:`,
    `   ${sign_up_link}`,
    `3. Create a token for your agent at ${sign_up_link.replace(/\/sign-up\?.*$/, '')}`,
  ].join('\n')
}
