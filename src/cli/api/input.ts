import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { ConfigError } from '../../config.ts'
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
  const source = data === '-' ? await text(process.stdin) : data.startsWith('@') ? await readFile(data.slice(1), 'utf8') : data
  const value = parseJson('--data', source)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ConfigError('--data: it must be a JSON object')
  return value as Record<string, unknown>
}

async function toValue({ flag, kind, values }: Parameter, value: string): Promise<unknown> {
  switch (kind) {
    case 'number':
      if (value.trim() === '' || !Number.isFinite(Number(value))) throw new ConfigError(`${flag}: "${value}" is not a number`)
      return Number(value)
    case 'boolean':
      if (!values.includes(value)) throw new ConfigError(`${flag}: "${value}" is not true or false`)
      return value === 'true'
    case 'list':
      return value === '' ? [] : value.split(',')
    case 'json':
      return parseJson(flag, value)
    case 'file':
      return new File([await readFile(value)], basename(value), { type: 'application/octet-stream' })
    default:
      return value
  }
}

function parseJson(flag: string, source: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw new ConfigError(`${flag}: it is not JSON: ${(error as Error).message}`)
  }
}
