import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDerivations } from '../../src/resources/derived.ts'
import { openStorage } from '../../src/store/open.ts'
import { quiet } from '../support/log.ts'
import { freePort } from '../support/ports.ts'
import { runCommandLine } from '../support/process.ts'
import { startRedis, type RedisServer } from '../support/redis.ts'

let folder: string
let redis: RedisServer
let tlsPort: number

/** Makes a CA of our own, and a certificate that it has signed. */
function makeCertificates(): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=Our CA', '-days', '2')
  openssl('req', ...key, '-keyout', 'redis.key', '-out', 'redis.csr', '-subj', '/CN=redis')
  writeFileSync(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1')
  openssl(
    'x509',
    '-req',
    '-in',
    'redis.csr',
    '-CA',
    'ca.crt',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-out',
    'redis.crt',
    '-days',
    '2',
    '-extfile',
    'names',
  )
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lanekeeper-'))
  makeCertificates()
  const file = (name: string) => join(folder, name)
  const certificates = ['--tls-cert-file', file('redis.crt'), '--tls-key-file', file('redis.key'), '--tls-ca-cert-file', file('ca.crt')]
  redis = await startRedis([...certificates, '--tls-auth-clients', 'no', '--unixsocket', file('redis.sock')], async () => {
    tlsPort = await freePort()
    return ['--tls-port', String(tlsPort)]
  })
})
afterAll(async () => {
  await redis?.stop()
  await rm(folder, { recursive: true, force: true })
})

const opening = (address: string) => openStorage(address, { log: quiet, derived: createDerivations() })

test('a Redis is reached by its Unix socket', async () => {
  for (const [address, database] of [
    [`unix://${folder}/redis.sock`, 0],
    [`redis+unix://${folder}/redis.sock?db=2`, 2],
  ] as const) {
    const storage = await opening(address)
    expect([storage.kind, database]).toEqual(['redis', database])
    await storage.close()
  }
  await expect(opening(`unix://${folder}/redis.sock?db=99`)).rejects.toThrow(/DB index is out of range/)
  await expect(opening(`unix://${folder}/none.sock`)).rejects.toThrow(/cannot be reached: connect ENOENT/)
})

test('an error about TLS says how the address begins, and how to name a CA of your own', async () => {
  await expect(opening(`redis://127.0.0.1:${tlsPort}`)).rejects.toThrow(/if it expects TLS, its address begins with rediss:\/\//)
  await expect(opening(`rediss://127.0.0.1:${redis.port}`)).rejects.toThrow(/if it has no TLS, its address begins with redis:\/\//)
  await expect(opening(`valkeys://127.0.0.1:${tlsPort}`)).rejects.toThrow(/NODE_EXTRA_CA_CERTS must name the file of the CA/)
})

test('NODE_EXTRA_CA_CERTS names the CA of our own', async () => {
  const env = { LANEKEEPER_STORAGE: `rediss://127.0.0.1:${tlsPort}`, NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt') }
  const { code, stderr } = await runCommandLine(['workspace', 'list'], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})
