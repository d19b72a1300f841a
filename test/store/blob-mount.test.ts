import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Driver } from 'unstorage'
import memoryDriver from 'unstorage/drivers/memory'
import { BlobMountMismatch, checkBlobMount } from '../../src/store/blobs.ts'
import { decorateStore } from '../../src/store/port.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { seededRandom } from '../support/random.ts'

test('processes that start at the same time on an empty storage agree on the id of its mount, and so do later ones', async () => {
  for (let seed = 0; seed < 30; seed++) {
    const random = seededRandom(seed)
    const pause = () => delay(random(4))
    const memory = memoryDriver()
    const mount: Driver = {
      ...memory,
      getItem: async (key) => (await pause(), memory.getItem(key)),
      setItem: async (key, value) => (await pause(), memory.setItem!(key, value, {})),
    }
    const inMemory = createMemoryStore([])
    const store = decorateStore(inMemory, {
      read: async (partition, request) => (await pause(), inMemory.read(partition, request)),
      commit: async (partition, change) => (await pause(), inMemory.commit(partition, change)),
    })
    await Promise.all(Array.from({ length: 5 }, () => pause().then(() => checkBlobMount(store, mount))))
    await checkBlobMount(store, mount)
  }
})

test('a mount of another storage is refused', async () => {
  const [store, other, mount] = [createMemoryStore([]), createMemoryStore([]), memoryDriver()]
  await checkBlobMount(store, mount)
  await checkBlobMount(other, memoryDriver())
  await expect(checkBlobMount(other, mount)).rejects.toThrow(BlobMountMismatch)
  await expect(checkBlobMount(store, memoryDriver())).rejects.toThrow(BlobMountMismatch)
})
