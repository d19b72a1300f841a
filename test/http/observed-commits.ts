import { afterAll, beforeAll } from 'vitest'
import { decorateStore, type Change } from '../../src/store/port.ts'
import { recordUses } from '../support/board.ts'
import type { Driver } from '../support/drivers.ts'
import { buildWorld, type World } from '../support/scenario.ts'
import { Service } from '../support/service.ts'

/** A driver, and the changes that are committed with it, in order, including those that conflict. */
export interface ObservedDriver {
  readonly driver: Driver
  readonly changes: Change[]
}

/** Wraps a driver so that tests see which records each commit writes and removes. */
export function observeCommits({ name, open }: Driver): ObservedDriver {
  const changes: Change[] = []
  return {
    changes,
    driver: {
      name,
      async open() {
        const opened = await open()
        const commit = (partition: string, change: Change) => (changes.push(change), opened.store.commit(partition, change))
        return { ...opened, store: decorateStore(opened.store, { commit }) }
      },
    },
  }
}

/** The keys of all records that a change writes or removes. */
export function writtenKeys({ put, remove }: Change): string[] {
  return [...put.keys(), ...remove].toSorted()
}

/** A world for the tests of a suite, whose tokens were used before, and the changes that are committed in it. */
export interface ObservedWorld {
  readonly service: Service
  readonly world: World
  readonly changes: readonly Change[]
}

/** Starts a service with a world before the tests of a suite, and stops it after them. */
export function setUpObservedWorld(driver: Driver): ObservedWorld {
  const { driver: observed, changes } = observeCommits(driver)
  const setup = { changes } as unknown as { service: Service; world: World; changes: readonly Change[] }
  beforeAll(async () => {
    setup.service = await Service.start(observed)
    setup.world = await buildWorld(setup.service)
    await recordUses(setup.service, ...setup.world.callers.values())
  })
  afterAll(() => setup.service.stop())
  return setup
}
