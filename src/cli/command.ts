import type { Command } from 'commander'
import type { CommandIo } from '../admin/deps.ts'
import { defaultOf, optionOf, settingNames, settingSource, type Config } from '../config.ts'
import type { Flags } from '../settings.ts'
import type * as OnStorage from './run-on-storage.ts'
import { table } from './text.ts'

/** The options of every administration command. */
export type CommonOptions = Pick<Flags, 'storage' | 'bytes' | 'json'>

/** Adds the option of a setting to a command. */
export function addSetting(command: Command, name: keyof Config, description = settingSource(name).description): Command {
  const { flag, placeholder, env } = settingSource(name)
  const value = defaultOf(name)
  const notes = [...(env === undefined ? [] : [`env: ${env}`]), ...(value === undefined ? [] : [`default: ${value}`])]
  return command.option(
    placeholder === undefined ? optionOf(flag!) : `${optionOf(flag!)} ${placeholder}`,
    notes.length === 0 ? description : `${description} (${notes.join(', ')})`,
  )
}

/** The settings that have no option, for the help of `serve`. */
export function environmentHelp(): string {
  const rows = settingNames.flatMap((name) => {
    const { flag, env, description } = settingSource(name)
    const value = defaultOf(name)
    return flag !== undefined ? [] : [['', `${env}`, value === undefined ? description : `${description} (default: ${value})`]]
  })
  return ['', 'Environment variables without an option:', ...table(rows)].join('\n')
}

const argumentDescriptions: Readonly<Record<string, string>> = {
  workspace: 'the id of the workspace',
  user: 'the id of the user',
  token: 'the id of the token, as printed by "token list"',
  role: 'owner, admin or member',
  name: 'the name to display',
  file: 'the file to read; default: stdin',
}

/** How an optional policy is named, for the help of commands. */
export const POLICY_NAMES = 'a policy is a folder, a revision of git as REVISION or REVISION:PATH, or "shipped" (default)'

/** Adds an administration command with the options that all of them have. */
export function addAdminCommand(parent: Command, usage: string, summary: string): Command {
  const command = parent.command(usage).description(summary)
  for (const argument of command.registeredArguments) argument.description = argumentDescriptions[argument.name()]!
  addSetting(command, 'storage', 'where records are stored: fs:PATH, redis[s]://…, unix:///PATH, redis-cluster://… or redis-sentinel://…')
  addSetting(command, 'bytes')
  return addSetting(command, 'json')
}

/** Runs an administration command on the storage. The code is loaded only now: neither the help nor the service needs it. */
export async function runOnStorage(...args: Parameters<typeof OnStorage.runOnStorage>): Promise<unknown> {
  return (await import('./run-on-storage.ts')).runOnStorage(...args)
}

/** The lines of a command without input. */
export async function* noLines(): AsyncGenerator<string> {}

/** The input and output of a command that has neither. */
export const noIo: CommandIo = { progress: () => undefined, write: async () => undefined, lines: noLines() }
