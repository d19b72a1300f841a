import { describe, expect, onTestFinished, test } from 'vitest'
import type { z } from 'zod'
import { globalKinds, workspaceKinds } from '../../src/admin/record-kinds.ts'
import { restore } from '../../src/admin/restore.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { newId, systemRandom } from '../../src/model/ids.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import type { Value } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import { createIo } from '../support/command-io.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { kindOf } from '../support/every-kind.ts'
import { examples } from '../support/record-examples.ts'
import { backupOf } from '../support/transfers.ts'

const clock = () => Date.parse('2026-11-20T12:00:00.000Z')
const ABSENT = Symbol('a member that is absent')
type Schema = z.ZodType
const defOf = (schema: Schema) => schema.def as any

/**
 * Values that differ from an example in one place, as the schema allows: a member that is null or absent, an empty list, another value of
 * those that are named. @throws {Error} if the example is null, absent or empty there: then something would not be tried
 */
function variantsOf(schema: Schema, example: any, at: string): unknown[] {
  const def = defOf(schema)
  switch (def.type) {
    case 'nullable':
      if (example === null) throw new Error(`${at} is null in the example`)
      return [null, ...variantsOf(def.innerType, example, at)]
    case 'optional':
      if (example === undefined) throw new Error(`${at} is absent in the example`)
      return [ABSENT, ...variantsOf(def.innerType, example, at)]
    case 'readonly':
      return variantsOf(def.innerType, example, at)
    case 'object':
      return Object.entries<Schema>(def.shape).flatMap(([name, shape]) =>
        variantsOf(shape, example[name], `${at}.${name}`).map((value) => withMember(example, name, value)),
      )
    case 'array':
      if (example.length === 0) throw new Error(`${at} is empty in the example`)
      return [
        [],
        ...example.slice(0, 4).flatMap((item: unknown, i: number) => variantsOf(def.element, item, at).map((one) => example.with(i, one))),
      ]
    case 'union': {
      const option = def.options.find((one: z.ZodType) => one.safeParse(example).success)
      if (option === undefined) throw new Error(`${at} is none of its forms`)
      return variantsOf(option, example, at)
    }
    case 'enum':
      return Object.values(def.entries).filter((value) => value !== example)
    case 'literal':
      return def.values.filter((value: unknown) => value !== example)
    case 'boolean':
      return [!example]
    default:
      return []
  }
}

function withMember(record: object, name: string, value: unknown): object {
  const { [name]: _present, ...others } = record as Record<string, unknown>
  return value === ABSENT ? others : { ...record, [name]: value }
}

function withoutReadonly(schema: Schema): Schema {
  return defOf(schema).type === 'readonly' ? defOf(schema).innerType : schema
}

/** The example, with one of what can be missing or with all of it missing. */
function fewest(schema: Schema, example: object): object[] {
  const shape = Object.entries<Schema>(shapeOf(schema, example))
  const missing = shape.flatMap(([name, member]) => {
    const { type } = withoutReadonly(member).def
    const value = type === 'nullable' ? null : type === 'optional' ? ABSENT : type === 'array' ? [] : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  const without = (kept?: string) =>
    missing.reduce((record, [name, value]) => (name === kept ? record : withMember(record, name, value)), example)
  return [without(), ...missing.map(([name]) => without(name))]
}

function shapeOf(schema: Schema, example: unknown): Record<string, Schema> {
  const { type, shape, options } = defOf(schema)
  return type === 'union'
    ? shapeOf(
        options.find((one: z.ZodType) => one.safeParse(example).success),
        example,
      )
    : shape
}

interface Variant {
  readonly partition: 'global' | 'workspace'
  readonly key: string
  readonly value: Value
}

/** The variants of each kind that a backup keeps. Each has new ids. */
function allVariants(workspaceId: string): Variant[] {
  return Object.values(examples).flatMap((one) => {
    if (typeof one === 'string') return []
    const make = one.make as (workspaceId: string) => readonly (readonly [string, object])[]
    return one.in.flatMap((partition) =>
      make(workspaceId).flatMap(([first, example], i) => {
        const { schema } = (partition === 'global' ? globalKinds : workspaceKinds)[kindOf(first)]!
        const count = variantsOf(schema, example, first).length + fewest(schema, example).length
        return Array.from({ length: count + 1 }, (_one, v) => {
          const [key, value] = make(workspaceId)[i]!
          return { partition, key, value: [value, ...variantsOf(schema, value, key), ...fewest(schema, value)][v] as Value }
        })
      }),
    )
  })
}

/** Puts variants into groups in which no two have the same key. Several kinds have only one record in each partition. */
function groups(variants: readonly Variant[]): Variant[][] {
  const found: Map<string, Variant>[] = []
  for (const variant of variants) {
    const key = `${variant.partition} ${variant.key}`
    const free = found.find((group) => !group.has(key)) ?? (found.push(new Map()), found.at(-1)!)
    free.set(key, variant)
  }
  return found.map((group) => [...group.values()])
}

test('a kind of records has examples, or a reason why a backup does not keep it: every one that a backup can have', () => {
  const kept = Object.entries(examples).flatMap(([name, one]) => (typeof one === 'string' ? [] : [kindOf((keys as any)[name]('a', 'b'))]))
  const known = new Set([...Object.keys(workspaceKinds), ...Object.keys(globalKinds)].filter((kind) => kind !== 'workspace'))
  expect(new Set(kept)).toEqual(known)
})

test('the variants of a second factor are those that people have', () => {
  const factors = allVariants(newId('workspace', systemRandom)).filter(({ key }) => kindOf(key) === 'second_factor')
  const described = factors.map(({ value }) => {
    const { authenticator, pending, recovery_hashes, passkeys } = value as any
    const parts = {
      app: authenticator !== null,
      pending: pending !== null,
      codes: recovery_hashes.length > 0,
      passkeys: passkeys.length > 0,
    }
    return Object.entries(parts)
      .flatMap(([name, has]) => (has ? [name] : []))
      .join(' ')
  })
  expect(described).toEqual(
    expect.arrayContaining(['app pending codes passkeys', 'app pending passkeys', 'passkeys', 'pending', 'app', 'codes', '']),
  )
})

describe.each(drivers)('a backup on $name', (driver) => {
  const openNew = async () => {
    const opened = await driver.open()
    onTestFinished(async () => (await opened.store.close(), await opened.blobs.close()))
    return { ...opened, clock, random: systemRandom }
  }
  /** The records of these variants, without the ids of bytes: a restore gives them new ones. */
  const stored = ({ store }: OpenDriver, partition: string, variants: readonly Variant[]) =>
    transact(store, partition, systemRandom, async (tx) => {
      const values = await tx.read(variants.map(({ key }) => key as Key<Value>))
      return variants.map(({ key }, i) => ({ key, value: withoutBytes(values[i]) }))
    })
  const withoutBytes = (value: Value | undefined) =>
    value && (kindOf(String(value['id']).replace('_', ':')) === 'fil' ? { ...value, blob_id: '' } : value)

  test('keeps every variant of every record, and a backup of what was restored is the same', async () => {
    const isGlobal = ({ partition }: Variant) => partition === 'global'
    const rounds = groups(allVariants('').filter(isGlobal)).length
    expect(rounds).toBeGreaterThan(1)
    for (let round = 0; round < rounds; round++) {
      const [source, target] = [await openNew(), await openNew()]
      const first = (await createWorkspace(source, 'Acme')).id
      const variants = allVariants(first)
      // Each workspace has one of the records that a workspace has once.
      const ofWorkspaces = round === 0 ? groups(variants.filter((one) => !isGlobal(one))) : []
      const partitions: (readonly [string, readonly Variant[]])[] = [[GLOBAL, groups(variants.filter(isGlobal))[round]!]]
      for (const [i, own] of ofWorkspaces.entries()) partitions.push([i === 0 ? first : (await createWorkspace(source, 'Next')).id, own])
      for (const [partition, own] of partitions)
        await transact(source.store, partition, systemRandom, async (tx) => {
          for (const { key, value } of own) tx.create(key as Key<Value>, value)
        })
      const { lines } = await backupOf(source)
      await restore(target, createIo(lines))
      for (const [partition, own] of partitions)
        expect(await stored(target, partition, own)).toEqual(own.map(({ key, value }) => ({ key, value: withoutBytes(value) })))
      const comparable = (all: readonly string[]) =>
        all
          .slice(1, -1)
          .map((line) => line.replaceAll(/blb_[0-9a-z]{20}/g, 'blob'))
          .toSorted()
      expect(comparable((await backupOf(target)).lines)).toEqual(comparable(lines))
    }
  })
})
