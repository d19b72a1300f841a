import { seedDemo, uncounted, type Demo } from '../../src/demo/seed.ts'
import { readWorld } from '../../src/demo/world.ts'
import { cheapPasswords, type Service } from './service.ts'

/** Writes the demo data to the storage of a service. */
export async function seedOn({ deps, app }: Service): Promise<Demo> {
  const demo = await seedDemo(
    { ...deps, passwords: cheapPasswords },
    uncounted(() => app.services),
    readWorld(),
  )
  await app.services.usage.settled()
  return demo
}
