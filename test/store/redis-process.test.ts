import { expect, test } from 'vitest'
import { startProcess } from '../support/process.ts'
import { startRedis } from '../support/redis.ts'

test('a process does not print the password of its Redis when that fails', async () => {
  const password = 's3cr%t:/@pässword'
  const server = await startRedis(['--requirepass', password])
  const address = `redis://:${encodeURIComponent(password)}@127.0.0.1:${server.port}`
  const env = { LANEKEEPER_LOG: 'debug', LANEKEEPER_STORAGE: address }
  const service = startProcess(['serve', '--json', '--demo'], env)
  const { url } = JSON.parse(await service.until('\n')) as { url: string }
  await server.kill()
  expect((await fetch(`${url}/readyz`)).status).toBe(503)
  const lateService = startProcess(['serve'], env)
  await expect(lateService.until('never')).rejects.toThrow('ended with 4')
  await service.stop()
  await server.stop()
  const printed = [service, lateService].map((process) => process.stdout() + process.stderr()).join('')
  expect(printed).toContain('redis connection')
  expect(printed).not.toMatch(/s3cr|pässword|p%C3%A4ssword/)
})
