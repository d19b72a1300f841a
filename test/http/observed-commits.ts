import { afterAll, beforeAll } from 'vitest'
import { decorateStore, type Change } from '../../src/store/port.ts'
import { recordUses } from '../support/board.ts'
import type { Driver } from '../support/drivers.ts'
import { buildWorld, type World } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

/** The keys of all records that a change writes or removes. */
export function writtenKeys({ put, remove }: Change): string[] {
  return [...put.keys(), ...remove].toSorted()
}

/** A world for the tests of a suite, whose tokens were used before, and the changes that are committed in it, with those that conflict. */
interface ObservedWorld {
  readonly service: Service
  readonly world: World
  readonly changes: readonly Change[]
}

/** Starts a service with a world before the tests of a suite, and stops it after them. */
export function setUpObservedWorld(driver: Driver): ObservedWorld {
  const changes: Change[] = []
  const setup = { changes } as unknown as { service: Service; world: World; changes: readonly Change[] }
  const open = async () => {
    const opened = await driver.open()
    const commit = (partition: string, change: Change) => (changes.push(change), opened.store.commit(partition, change))
    return { ...opened, store: decorateStore(opened.store, { commit }) }
  }
  beforeAll(async () => {
    setup.service = await Service.start({ name: driver.name, open })
    setup.world = await buildWorld(setup.service)
    await recordUses(setup.service, ...setup.world.callers.values())
  })
  afterAll(() => setup.service.stop())
  return setup
}
