import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { startProcess } from '../../support/process.ts'
import { startRedis } from '../../support/redis.ts'

// Started by interrupted.test.ts. It stops nothing that it starts.
test('this test starts processes and creates a folder', async () => {
  const redis = await startRedis()
  await mkdtemp(join(tmpdir(), 'lanekeeper-left-'))
  // On Redis, because a service in memory creates demo data first.
  const service = startProcess(['--json'], { LANEKEEPER_STORAGE: redis.url })
  await service.until('\n')
  // A process that is stopped does not react to the end of its parent.
  redis.process.kill('SIGSTOP')
  console.log(`started: ${JSON.stringify([process.pid, redis.process.pid, service.child.pid])}`)
  if (process.env['LANEKEEPER_HANG'] === '1') await new Promise(() => undefined)
})
