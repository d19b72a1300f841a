import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { NotModified, Page, Result } from '../../client/client.ts'
import { cell, describe } from '../text.ts'

/** How results are printed. */
interface Format {
  readonly json: boolean
  /** the only member that is printed */
  readonly member: string | undefined
}

/** Prints what the service has answered. @param further the options with which the next page can be had */
export function printResult(result: Result<unknown> | Page<unknown> | NotModified, { json, member }: Format, further: string): void {
  const { data, etag, requestId } = result
  const next = 'nextCursor' in result ? result.nextCursor : undefined
  if (member !== undefined) return printMembers(Array.isArray(data) ? data : [data], member)
  if (json) {
    const page = next === undefined ? {} : { page: { next_cursor: next } }
    return console.log(JSON.stringify({ data, ...page, etag, request_id: requestId }))
  }
  if (result.status === 304) return console.log('not modified')
  console.log(describeData(data))
  if (etag !== undefined && next === undefined) console.error(`etag: ${etag}`)
  if (typeof next === 'string') console.error(`there are more: add ${further} ${next}`)
}

/** Prints items one by one: as a table, or as a line of JSON each. */
export async function printAll(items: AsyncIterable<unknown>, { json, member }: Format): Promise<void> {
  const found: unknown[] = []
  for await (const item of items)
    if (member !== undefined) printMembers([item], member)
    else if (json) console.log(JSON.stringify(item))
    else found.push(item)
  if (!json && member === undefined) console.log(describeData(found))
}

function printMembers(items: readonly unknown[], member: string): void {
  for (const item of items) {
    const value = (item as Record<string, unknown> | undefined)?.[member]
    console.log(typeof value === 'object' && value !== null ? JSON.stringify(value) : cell(value))
  }
}

/** Writes the bytes of a download to a file, or to stdout. */
export async function writeBytes({ data }: Result<Response>, file: string | undefined): Promise<void> {
  const body = Readable.fromWeb((data.body ?? new Blob([]).stream()) as ReadableStream)
  if (file !== undefined) return pipeline(body, createWriteStream(file))
  await pipeline(body, process.stdout, { end: false })
}

/** Members that contain objects, such as the counts of a card, are shown as JSON. */
function describeData(data: unknown): string {
  if (Array.isArray(data)) return describe(data.map(flatten))
  return typeof data === 'object' && data !== null ? describe(flatten(data)) : cell(data)
}

function flatten(item: unknown): object {
  return Object.fromEntries(Object.entries(item as object).map(([name, value]) => [name, isNested(value) ? JSON.stringify(value) : value]))
}

function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.some((item) => typeof item === 'object')
  return typeof value === 'object' && value !== null
}
