import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { ConfigError } from '../../config.ts'
import { readRelativeTime, RELATIVE_TIMES } from '../../model/relative-time.ts'
import { systemClock } from '../../model/time.ts'
import type { Parameter } from './parameters.ts'

/**
 * Makes the input of an operation from options. Those of single members win over `--data`.
 * @param data JSON, `@FILE` or `-` for stdin
 * @throws {ConfigError} if a value is not valid
 */
export async function toInput(
  parameters: readonly Parameter[],
  options: Readonly<Record<string, unknown>>,
  data: string | undefined,
): Promise<Record<string, unknown>> {
  const input = data === undefined ? {} : await readData(data)
  for (const parameter of parameters) {
    const value = options[optionName(parameter)]
    if (value !== undefined) input[parameter.name] = value === false ? null : await toValue(parameter, value as string)
  }
  const missing = parameters.filter(({ name, required }) => required && input[name] === undefined)
  if (missing.length > 0) throw new ConfigError(`missing: ${missing.map(({ flag }) => flag).join(', ')}`)
  return input
}

/** The name under which commander has the value of an option: `--column-id` is `columnId`. */
function optionName({ flag }: Pick<Parameter, 'flag'>): string {
  return flag.slice(2).replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase())
}

async function readData(data: string): Promise<Record<string, unknown>> {
  const expected = '--data: it must be a JSON object, @FILE with one, or - to read one from stdin'
  const value = parseJson(expected, await sourceOf(data))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new ConfigError(`${expected}, not ${kindOf(value)}`)
}

async function sourceOf(data: string): Promise<string> {
  if (data === '-') return text(process.stdin)
  return data.startsWith('@') ? (await readFileOf('--data', data.slice(1))).toString() : data
}

async function readFileOf(flag: string, path: string): Promise<Buffer<ArrayBuffer>> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new ConfigError(`${flag}: the file "${path}" cannot be read: ${(error as Error).message}`)
  }
}

async function toValue({ flag, kind, values }: Parameter, value: string): Promise<unknown> {
  switch (kind) {
    case 'number':
      if (value.trim() === '' || !Number.isFinite(Number(value))) throw new ConfigError(`${flag}: "${value}" is not a number`)
      return Number(value)
    case 'boolean':
      if (!values.includes(value)) throw new ConfigError(`${flag}: "${value}" is not true or false`)
      return value === 'true'
    case 'time':
      return toTime(flag, value)
    case 'list':
      return toList(flag, value)
    case 'json':
      return parseJson(`${flag}: it must be JSON`, value)
    case 'json-list':
      return parseJsonList(flag, value)
    case 'file':
      return new File([await readFileOf(flag, value)], basename(value), { type: 'application/octet-stream' })
    default:
      return value
  }
}

/** A time as it is, which the service checks, or a relative one in UTC. */
function toTime(flag: string, value: string): string {
  const time = readRelativeTime(value, systemClock())
  if (time !== undefined) return new Date(time).toISOString()
  if (/^\d{4}-/.test(value)) return value
  throw new ConfigError(`${flag}: "${value}" is no time; it must be one such as 2026-11-20T12:00:00Z, or ${RELATIVE_TIMES}`)
}

function toList(flag: string, value: string): string[] {
  const items = value === '' ? [] : value.split(',')
  if (items.includes('') || value.startsWith('['))
    throw new ConfigError(`${flag}: it must be a list separated by commas, such as a,b; "${value}" is none`)
  return items
}

function parseJsonList(flag: string, value: string): unknown[] {
  const expected = `${flag}: it must be a JSON list, in square brackets`
  const parsed = parseJson(expected, value)
  if (Array.isArray(parsed)) return parsed
  throw new ConfigError(`${expected}, not ${kindOf(parsed)}`)
}

/** @param expected the option and what it must have */
function parseJson(expected: string, source: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw new ConfigError(`${expected}; it is not JSON: ${(error as Error).message}`)
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
