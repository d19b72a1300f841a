import { randomBytes } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { z } from 'zod'
import { globalKinds, workspaceKinds } from '../../src/admin/record-kinds.ts'
import { restore } from '../../src/admin/restore.ts'
import { createWorkspace } from '../../src/admin/workspaces.ts'
import { idPrefixes, newId, systemRandom, type IdKind } from '../../src/model/ids.ts'
import { GLOBAL, keys, type Key } from '../../src/store/keys.ts'
import type { Value } from '../../src/store/port.ts'
import { transact } from '../../src/store/transact.ts'
import { createIo } from '../support/command-io.ts'
import { drivers, type OpenDriver } from '../support/drivers.ts'
import { kindOf } from '../support/every-kind.ts'
import { backupOf } from '../support/transfers.ts'

const AT = '2026-11-20T11:00:00.000Z'
const clock = () => Date.parse('2026-11-20T12:00:00.000Z')
const ABSENT = Symbol('a member that is absent')
type Schema = z.ZodType
const defOf = (schema: Schema) => schema.def as any
const id = (kind: IdKind): string => newId(kind, systemRandom)
const hash = (): string => randomBytes(32).toString('hex')

/** A value for every schema of a member: the first one that it accepts is taken. */
const values: readonly (() => unknown)[] = [
  ...[0, 1, 2, true, 'P1', AT, AT.slice(0, 13), AT.slice(0, 10), '#1f6feb', 'A'.repeat(32), '$argon2id$x', 'text/plain'].map(
    (one) => () => one,
  ),
  () => 'https://example.org/a.png',
  () => `${hash()}@example.org`,
  hash,
  ...(Object.keys(idPrefixes) as IdKind[]).map((kind) => () => id(kind)),
]

/** A value of a schema with new ids: no member is null, absent or an empty list. */
function exampleOf(schema: Schema): any {
  const def = defOf(schema)
  switch (def.type) {
    case 'nullable':
    case 'optional':
    case 'readonly':
      return exampleOf(def.innerType)
    case 'object':
      return Object.fromEntries(Object.entries<Schema>(def.shape).map(([name, member]) => [name, exampleOf(member)]))
    case 'array':
      return [exampleOf(def.element), exampleOf(def.element)]
    case 'union':
      return exampleOf(def.options[0])
    default: {
      const accepted = [...(def.values ?? []), ...Object.values(def.entries ?? {}), ...values.map((make) => make())]
      const found = accepted.find((one) => schema.safeParse(one).success)
      if (found === undefined) throw new Error(`there is no example of the schema ${def.type}`)
      return found
    }
  }
}

/** Values that differ from an example in one place: a member that is null or absent, an empty list, another one of those that are named. */
function variantsOf(schema: Schema, example: any): unknown[] {
  const def = defOf(schema)
  switch (def.type) {
    case 'nullable':
      return [null, ...variantsOf(def.innerType, example)]
    case 'optional':
      return [ABSENT, ...variantsOf(def.innerType, example)]
    case 'readonly':
      return variantsOf(def.innerType, example)
    case 'object':
      return Object.entries<Schema>(def.shape).flatMap(([name, member]) =>
        variantsOf(member, example[name]).map((value) => withMember(example, name, value)),
      )
    case 'array':
      return [[], ...variantsOf(def.element, example[0]).map((one) => example.with(0, one))]
    case 'union':
      return (def.options as Schema[]).flatMap((option, i) => {
        const other = i === 0 ? example : exampleOf(option)
        return [other, ...variantsOf(option, other)]
      })
    case 'enum':
      return Object.values(def.entries)
    case 'literal':
      return def.values
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

/** The example with one of what can be missing, or with nothing of it. */
function fewest(schema: Schema, example: object): object[] {
  const { type, shape } = defOf(schema)
  if (type !== 'object') return []
  const missing = Object.entries<Schema>(shape).flatMap(([name, member]) => {
    const def = defOf(member)
    const { type: kind } = def.type === 'readonly' ? defOf(def.innerType) : def
    const value = kind === 'nullable' ? null : kind === 'optional' ? ABSENT : kind === 'array' ? [] : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  const without = (kept?: string) =>
    missing.reduce((record, [name, value]) => (name === kept ? record : withMember(record, name, value)), example)
  return [without(), ...missing.map(([name]) => without(name))]
}

/** The keys of the kinds whose key has not the id of the record. */
const keyOf: Readonly<Record<string, (value: any) => string>> = {
  demo: () => keys.demo(),
  account: ({ user_id }) => keys.account(user_id),
  second_factor: ({ user_id }) => keys.secondFactor(user_id),
  notices: ({ user_id }) => keys.notices(user_id),
  workspace_link: ({ user_id, workspace_id }) => keys.workspaceLink(user_id, workspace_id),
  membership: ({ user_id }) => keys.membership(user_id),
  token: (value) => keys.token(value.hash),
  token_hash: () => keys.tokenHash(id('token')),
  token_rules: () => keys.tokenRules(),
  token_use: () => keys.tokenUse(hash()),
  board_member: ({ board_id, user_id }) => keys.boardMember(board_id, user_id),
  readiness: ({ card_id }) => keys.readiness(card_id),
  claim: ({ card_id }) => keys.claim(card_id),
  order: () => keys.order(id('column')),
  first_response: ({ token_hash, key_hash }) => keys.firstResponse(token_hash, key_hash),
  response_text: (value) => keys.responseText(value.hour, value.sha256),
  change: () => keys.change(id('board'), '0000000000000001'),
  removals: () => keys.removals(),
}

interface Variant {
  readonly partition: 'global' | 'workspace'
  readonly key: string
  readonly value: Value
}

const kinds = { global: globalKinds, workspace: workspaceKinds }

/** The variants of each kind that a backup keeps. Each has new ids. */
function allVariants(workspaceId: string): Variant[] {
  return (['global', 'workspace'] as const).flatMap((partition) =>
    Object.entries(kinds[partition]).flatMap(([kind, { schema }]) => {
      const all = () => {
        const example = exampleOf(schema)
        if (kind === 'workspace_link') example.workspace_id = workspaceId
        return [example, ...variantsOf(schema, example), ...fewest(schema, example)]
      }
      if (kind === 'workspace') return []
      return all().flatMap((_one, i) => {
        const value = all()[i]
        // The restored bytes have other ids.
        if (kind === 'tombstone' && value.kind === 'blob') return []
        return { partition, key: (keyOf[kind] ?? (() => `${kind}:${value.id}`))(value), value }
      })
    }),
  )
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

test('the variants of a second factor are those that people have', () => {
  const factors = allVariants(id('workspace')).filter(({ key }) => kindOf(key) === 'second_factor')
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
