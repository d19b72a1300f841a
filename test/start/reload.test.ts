import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { departing, otherFiles, policyFolder, writePolicy } from '../support/other-policy.ts'
import { load, shipped, shippedFiles } from '../support/policy.ts'
import { startProcess, startService, type StartedService } from '../support/process.ts'

const other = load(otherFiles)
const widening = (permission: string) =>
  `version: 1\nwidenings:\n  - { from: "${other.hash.slice(0, 12)}", permission: ${permission}, when: {}, reason: because }\n`

const policyInUse = async ({ url }: StartedService) => ((await (await fetch(`${url}/readyz`)).json()) as { policy: string }).policy

describe('a policy folder', () => {
  const folder = policyFolder()
  let service: StartedService
  beforeAll(async () => {
    await writePolicy(folder, shippedFiles)
    service = await startService(['--policies', folder], { LANEKEEPER_METRICS: '127.0.0.1:0' })
  })
  afterAll(() => service.stop())

  /** Sends SIGHUP, and waits until the log says what became of it. */
  const reload = async () => {
    const before = service.stderr().length
    service.child.kill('SIGHUP')
    const logged = () => /^\{.*"event":"policy\.(?:replaced|refused|unchanged)".*\n/m.exec(service.stderr().slice(before))?.[0]
    await expect.poll(logged).toBeDefined()
    return JSON.parse(logged()!) as Record<string, unknown>
  }

  test('a policy that allows less is used after SIGHUP', async () => {
    expect(await policyInUse(service)).toBe(shipped.hash)
    await writePolicy(folder, otherFiles)
    expect(await reload()).toMatchObject({ event: 'policy.replaced', before: shipped.hash, policy: other.hash, widened: 0 })
    expect(await policyInUse(service)).toBe(other.hash)
  })

  test('a policy that allows more is refused, unless it declares it', async () => {
    await writePolicy(folder, shippedFiles)
    expect(await reload()).toMatchObject({
      event: 'policy.refused',
      policy: other.hash,
      refused: shipped.hash,
      permissions: ['restore Column', 'update Label'],
    })
    await writePolicy(folder, shippedFiles, widening('restore Column'))
    expect(await reload()).toMatchObject({ event: 'policy.refused', permissions: ['update Label'] })
    expect(await policyInUse(service)).toBe(other.hash)
    await writePolicy(folder, shippedFiles, `${widening('restore Column')}${widening('update Label').split('widenings:\n')[1]}`)
    expect(await reload()).toMatchObject({ event: 'policy.replaced', policy: shipped.hash })
    expect(await policyInUse(service)).toBe(shipped.hash)
  })

  test('the policy that is in use is not proved again', async () => {
    expect(await reload()).toMatchObject({ event: 'policy.unchanged', policy: shipped.hash })
  })

  test('the metrics have the policy in use and the attempts to replace it', async () => {
    const address = /metrics are served at ([^\s"]+)/.exec(service.stderr())![1]!
    const metrics = await (await fetch(address)).text()
    expect(metrics).toContain(`lanekeeper_policy_info{policy="${shipped.hash}"} 1`)
    expect(metrics).toContain('lanekeeper_policy_reloads_total{outcome="replaced"} 3')
    expect(metrics).toContain('lanekeeper_policy_reloads_total{outcome="refused"} 2')
  })
})

test('a policy that departs from the specification is served, and the log says so', async () => {
  const folder = policyFolder()
  await writePolicy(folder, departing)
  const service = await startService(['--policies', folder])
  const logged = () => /^\{.*"event":"policy\.(?:departs|not_compared)".*\n/m.exec(service.stderr())?.[0]
  await expect.poll(logged).toBeDefined()
  expect(JSON.parse(logged()!)).toMatchObject({ event: 'policy.departs', policy: load(departing).hash, rows: ['P10'] })
  expect(await service.stop()).toBe(0)
})

test('a service does not start with a policy that does not hold, or with a path that is no folder', async () => {
  const folder = policyFolder()
  await writePolicy(folder, { ...shippedFiles, permissions: otherFiles.permissions })
  for (const [path, message] of [
    [folder, 'The policy does not hold'],
    [join(folder, 'absent'), 'vocabulary.yaml cannot be read: there is no such file'],
  ] as const) {
    const service = startProcess(['serve', '--policies', path])
    await expect(service.until('never')).rejects.toThrow(message)
    expect(await service.stop()).toBe(2)
  }
})
