import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { startProcess } from '../../support/process.ts'
import { startRedis } from '../../support/redis.ts'

// Started by interrupted.test.ts. It stops nothing that it starts.
test('this test starts processes and creates a folder', async () => {
  const redis = await startRedis()
  // A process that is stopped does not react to the end of its parent.
  redis.process.kill('SIGSTOP')
  await mkdtemp(join(tmpdir(), 'lanekeeper-left-'))
  const service = startProcess(['--json'])
  await service.until('\n')
  console.log(`started: ${JSON.stringify([process.pid, redis.process.pid, service.child.pid])}`)
  if (process.env['LANEKEEPER_HANG'] === '1') await new Promise(() => undefined)
})
