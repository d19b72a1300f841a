import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { runCommand } from '../../src/admin/commands.ts'
import { importForeignBoard } from '../../src/importers/import.ts'
import { memory } from '../support/memory.ts'
import { Service } from '../support/service.ts'
import { plannedBoard } from './planned-board.ts'
import { importText, members } from './text-import.ts'

/** A file of a few lines, the board that it becomes, and what is not carried: both written by hand. */
interface Case {
  readonly what: string
  readonly file: unknown
  readonly options?: object
  readonly board?: Record<string, unknown>
  /** kind → its number, or its number and its examples */
  readonly not_carried?: Readonly<Record<string, number | readonly [number, ...string[]]>>
  /** the message that refuses the file */
  readonly refused?: string
}
const programs = ['trello', 'planka', 'csv', 'github']
const casesOf = (from: string): Case[] => parse(readFileSync(new URL(`../../fixtures/imports/${from}.yaml`, import.meta.url), 'utf8'))

const service = await Service.forSuite(memory)
const workspace = await service.workspace()
const [user] = await Promise.all(members.map(({ display_name }) => service.person(workspace, 'owner', display_name)))

describe.each(programs)('a file of %s', (from) => {
  test.each(casesOf(from).map((one) => [one.what, one] as const))(
    '%s',
    async (_what, { file, options, board, not_carried = {}, refused }) => {
      const text = typeof file === 'string' ? file : JSON.stringify(file)
      if (refused !== undefined) {
        await expect(importText(from, text, options)).rejects.toMatchObject({ name: 'AdminError', code: 'invalid', message: refused })
        return
      }
      const { result, lines } = await importText(from, text, options)
      const planned = plannedBoard(lines)
      const found = Object.fromEntries(Object.keys(board!).map((name) => [name, planned[name]]))
      expect(found).toEqual(board)
      const reported = result.not_carried.map(({ kind, count, examples }) => {
        const stated = not_carried[kind]
        return [kind, Array.isArray(stated) ? [count, ...examples] : count]
      })
      expect(Object.fromEntries(reported)).toEqual(not_carried)
    },
  )

  const accepted = casesOf(from).filter(({ refused }) => refused === undefined)
  test.each(accepted.map((one) => [one.what, one] as const))(
    '%s, and the service accepts what it becomes',
    async (_what, { file, options }) => {
      const text = typeof file === 'string' ? file : JSON.stringify(file)
      const result = await importForeignBoard(
        text,
        { from, workspace, user: user!.id, members: [], dryRun: false, ...options },
        (name, input, { lines }) =>
          runCommand(service.adminDeps, name, input, { progress: () => undefined, write: async () => undefined, lines }),
      )
      expect(result.board_id).toMatch(/^brd_/)
    },
  )
})
