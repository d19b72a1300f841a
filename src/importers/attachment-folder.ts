import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../admin/deps.ts'
import type { ForeignAttachment, ForeignBoard } from './foreign-board.ts'
import { groupBy } from './input.ts'
import type { ImportReport } from './report.ts'

/** How many files a folder may have: their names are in memory. */
const MAX_FILES = 200_000
/** How many levels of folders are searched. */
const MAX_DEPTH = 12
/** How many bytes of a file are read at once. */
const PIECE_BYTES = 192 * 1024
/** The number that a backup tool begins a name with, to keep an order. */
const NUMBER = /^\d+_/

/** A file in a folder of attachments. */
interface FoundFile {
  readonly path: string
  readonly name: string
  /** the names of the folders that it is in, from the inside out */
  readonly folders: readonly string[]
}

/**
 * The files of a folder with the attachments of a board. It is searched once, and symbolic links are not followed. What a board says about
 * its attachments is compared with the names of these files, and never used as a path.
 */
export class AttachmentFolder {
  readonly #byId: ReadonlyMap<string, readonly FoundFile[]>
  readonly #byName: ReadonlyMap<string, readonly FoundFile[]>
  readonly #byCard: ReadonlyMap<string, readonly FoundFile[]>

  private constructor(files: readonly FoundFile[]) {
    const perId = files.flatMap((file) => idsIn(file).map((id) => [id, file] as const))
    this.#byId = new Map(
      Array.from(
        groupBy(perId, ([id]) => id),
        ([id, pairs]) => [id, pairs.map(([, file]) => file)],
      ),
    )
    this.#byName = groupBy(files, ({ name }) => name)
    const ofCards = files.filter(({ folders }) => folders.length > 2 && folders[0] === 'attachments')
    this.#byCard = groupBy(ofCards, ({ folders }) => `${unnumbered(folders[2]!)}/${unnumbered(folders[1]!)}`)
  }

  /**
   * Searches a folder.
   * @throws {AdminError} `invalid` if it cannot be read, or has too many files
   */
  static async open(path: string, report: ImportReport): Promise<AttachmentFolder> {
    const files: FoundFile[] = []
    const search = async (folder: string, folders: readonly string[]): Promise<void> => {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const found = { path: join(folder, entry.name), name: entry.name.normalize('NFC'), folders }
        if (entry.isSymbolicLink()) report.add('symbolic_links', found.path)
        else if (entry.isDirectory() && folders.length < MAX_DEPTH) await search(found.path, [found.name, ...folders])
        else if (entry.isFile()) files.push(found)
        if (files.length > MAX_FILES) throw new AdminError('invalid', `--attachments: ${path} has more than ${MAX_FILES} files`)
      }
    }
    try {
      await search(await realpath(path), [])
    } catch (error) {
      if (error instanceof AdminError) throw error
      throw new AdminError('invalid', `--attachments: ${(error as Error).message}`)
    }
    return new AttachmentFolder(files)
  }

  /**
   * Finds the files of a board's attachments, by the names that backup tools give them: the id of the attachment, alone or before something
   * else; a folder with that id; `LIST/CARD/attachments/NAME` with numbers before each; or the name alone, if only one attachment has it.
   * @returns the path of each file
   */
  match({ columns, cards }: Pick<ForeignBoard, 'columns' | 'cards'>): Map<ForeignAttachment, string> {
    const found = new Map<ForeignAttachment, string>()
    const uploads = cards
      .map((card) => ({ card, links: card.attachments.filter(({ isUpload }) => isUpload) }))
      .filter(({ links }) => links.length > 0)
    const lists = new Map(columns.map(({ id, name }) => [id, name]))
    const named = groupBy(
      uploads.flatMap(({ links }) => links),
      ({ name }) => name,
    )
    const folders = groupBy(uploads, ({ card }) => folderOf(lists.get(card.column) ?? '', card.title))
    for (const { card, links } of uploads) {
      const tokens = [folderOf(lists.get(card.column) ?? '', card.title), `${card.column}/${card.linkKey ?? card.id}`]
      // The folders of two cards with the same names cannot be told apart.
      const isAmbiguous = folders.get(tokens[0]!)!.length > 1
      const own = tokens.flatMap((token, i) => (i === 0 && isAmbiguous ? [] : (this.#byCard.get(token) ?? []))).toSorted(byNumber)
      for (const link of links) {
        const sameName = links.filter(({ name }) => sanitized(name) === sanitized(link.name))
        const inFolder = own.filter(({ name }) => unnumbered(name) === sanitized(link.name))[sameName.indexOf(link)]
        const file =
          only(this.#byId.get(link.id)) ?? inFolder ?? (named.get(link.name)!.length === 1 ? only(this.#byName.get(link.name)) : undefined)
        if (file !== undefined) found.set(link, file.path)
      }
    }
    return found
  }
}

/** The pieces of a file in base64. A link that has taken its place meanwhile is not followed. */
export async function* piecesOf(path: string): AsyncGenerator<{ readonly bytes: string; readonly last: boolean }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(PIECE_BYTES)
    for (let at = 0; ;) {
      const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, at)
      at += bytesRead
      const last = bytesRead === 0 || at >= size
      yield { bytes: buffer.toString('base64', 0, bytesRead), last }
      if (last) return
    }
  } finally {
    await file.close()
  }
}

/** The ids that a file or its folder may be named after. */
function idsIn({ name, folders }: FoundFile): string[] {
  // The number before a name is not an id.
  const starts = [name, unnumbered(name)].map((text) => /^(?!\d{1,5}_)[^-_.]+/.exec(text)?.[0] ?? '')
  return [...new Set([...starts, ...folders.slice(0, 1)])]
}

function only<T>(items: readonly T[] | undefined): T | undefined {
  return items?.length === 1 ? items[0] : undefined
}

function byNumber(a: FoundFile, b: FoundFile): number {
  return Number.parseInt(a.name, 10) - Number.parseInt(b.name, 10)
}

function unnumbered(name: string): string {
  return name.replace(NUMBER, '')
}

function folderOf(list: string, card: string): string {
  return `${sanitized(list)}/${sanitized(card)}`
}

/** A name as trello-full-backup writes it. */
function sanitized(name: string): string {
  return [...name.normalize('NFC').replace(/[<>:/\\|?*']/g, '_')].slice(0, 100).join('')
}
