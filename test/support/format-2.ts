import { readFileSync } from 'node:fs'
import { createApp } from '../../src/app.ts'
import type { StorageHandle } from '../../src/store/open.ts'
import { quiet } from './log.ts'
import { fixtureRoot } from './old-format.ts'
import { cheapPasswords, engine } from './service.ts'

export const root = fixtureRoot('format-2')

interface Known {
  /** the time at which the fixture was complete */
  readonly now: string
  readonly workspace: string
  /** ids by name */
  readonly boards: Readonly<Record<string, string>>
  /** the cards of the board "Roadmap" */
  readonly cards: readonly [string, string]
  /** ids by name */
  readonly files: Readonly<Record<string, string>>
  /** tokens without their prefix */
  readonly tokens: Readonly<Record<'olivia' | 'mira' | 'ben', string>>
}

export const known = JSON.parse(readFileSync(`${root}known.json`, 'utf8')) as Known
export const exportLines = () => readFileSync(`${root}acme.jsonl`, 'utf8').trimEnd().split('\n')

/** What the present version makes of each file: the name of its home board, and its visibility. */
export const expectedFiles: Readonly<Record<string, readonly [home: string | null, visibility: string]>> = {
  'private.png': ['Roadmap', 'private'],
  // It was uploaded there, and attached to the other board later.
  'on both.txt': ['Plans', 'workspace'],
  // It was detached from the board that it was uploaded to.
  'moved.txt': ['Plans', 'private'],
  'detached.txt': [null, 'private'],
  // The board that it was uploaded to is deleted.
  'saved.txt': ['Roadmap', 'workspace'],
  'gone.txt': [null, 'workspace'],
  'on a deleted card.txt': [null, 'private'],
  // Leo has left, so no member has access to this private file.
  'private of Leo.txt': ['Roadmap', 'board'],
  'shared by Leo.txt': ['Roadmap', 'workspace'],
}

/** Sends requests of the people of the fixture, at its time. */
export function senderOf({ store, blobs }: Pick<StorageHandle, 'store' | 'blobs'>) {
  const app = createApp({ store, blobs, log: quiet, engine, passwords: cheapPasswords, clock: () => Date.parse(known.now) })
  return async (person: keyof Known['tokens'], method: string, path: string): Promise<{ status: number; body: any }> => {
    const headers = { authorization: `Bearer lk_pat_${known.tokens[person]}` }
    const response = await app.fetch(new Request(`http://localhost/v1${path}`, { method, headers }))
    await app.services.usage.settled()
    return { status: response.status, body: await response.json() }
  }
}
