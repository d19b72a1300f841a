import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig } from '../../src/config.ts'
import { losesCommits } from '../../src/store/fs/sqlite-version.ts'
import { readText } from '../lint/syntax.ts'

// No container is built or run here. These are the mistakes that can be found by reading.

const instructions = readText('fixtures/deployment/docker/Dockerfile')
  .replaceAll(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => [line.split(' ')[0]!, line.slice(line.indexOf(' ') + 1).trim()] as const)
const all = (name: string) => instructions.filter(([one]) => one === name).map(([, text]) => text)
const only = (name: string) => (expect([name, all(name).length]).toEqual([name, 1]), all(name)[0]!)
const { files } = JSON.parse(readText('package.json')) as { files: string[] }
const sent = readText('fixtures/deployment/docker/Dockerfile.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))
const compose = parse(readText('fixtures/deployment/docker/compose.yaml')) as {
  services: Record<string, any>
  volumes: Record<string, unknown>
}

test('both stages of the image start from one exact version of Node.js that the package supports', () => {
  const [build, final, ...more] = all('FROM')
  expect({ build, more }).toEqual({ build: `${final} AS build`, more: [] })
  expect(final).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim$/)
  expect(Number(/\d+/.exec(final!)![0])).toBeGreaterThanOrEqual(20)
})

/** process.versions.sqlite of the versions of Node.js that the image has had. Look there before you change the image. */
const SQLITE_OF: Readonly<Record<string, string>> = { '24.9.0': '3.50.4', '24.21.0': '3.53.4' }

test('the SQLite of the image does not lose commits', () => {
  const [, version = ''] = /^node:([\d.]+)-/.exec(all('FROM').at(-1)!) ?? []
  expect({ version, sqlite: SQLITE_OF[version], losesCommits: losesCommits(SQLITE_OF[version]) }).toEqual({
    version,
    sqlite: expect.any(String),
    losesCommits: false,
  })
})

test('the container does not run as root, and its storage belongs to its user', () => {
  const order = instructions.map(([name]) => name)
  expect(only('USER')).toBe('node')
  expect(order.lastIndexOf('USER')).toBeGreaterThan(order.lastIndexOf('RUN'))
  expect(all('RUN').at(-1)).toBe(`mkdir ${only('VOLUME')} && chown node:node ${only('VOLUME')}`)
})

test('the files that are sent to the build exist, and are all files that the package contains and is built from', () => {
  expect(sent.filter((path) => !existsSync(fileURLToPath(new URL(`../../${path}`, import.meta.url))))).toEqual([])
  const sources = files.flatMap((path) => (/^(!|dist\/|src\/)/.test(path) ? [] : path.replace(/\/\*\*.*/, '')))
  expect(sent).toEqual(
    expect.arrayContaining([...sources, 'package.json', 'package-lock.json', '.npmrc', 'tsconfig.json', 'src', 'README.md', 'LICENSE']),
  )
})

test('the settings of the image are valid, and its health check asks its own port', () => {
  const env = Object.fromEntries(
    only('ENV')
      .split(' ')
      .map((pair) => pair.split('=')),
  )
  expect(readConfig({}, env)).toMatchObject({ host: '0.0.0.0', port: Number(only('EXPOSE')), storage: `fs:${only('VOLUME')}` })
  const [program, flag, script] = JSON.parse(/CMD (\[.*\])$/.exec(only('HEALTHCHECK'))![1]!) as string[]
  expect({ program, flag }).toEqual({ program: 'node', flag: '-e' })
  expect(script).toContain('127.0.0.1:${process.env.PORT}/readyz')
  expect({ entrypoint: only('ENTRYPOINT'), command: only('CMD') }).toEqual({
    entrypoint: '["node", "/app/dist/lanekeeper.js"]',
    command: '["serve"]',
  })
})

test('the compose file builds the image and connects it to a Redis that is durable and evicts nothing', () => {
  const { lanekeeper, redis } = compose.services
  expect(lanekeeper.build).toEqual({ context: '../../..', dockerfile: 'fixtures/deployment/docker/Dockerfile' })
  const env = Object.fromEntries(
    Object.entries(lanekeeper.environment as Record<string, string>).map(([name, value]) => [
      name,
      value.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
    ]),
  )
  expect(readConfig({ workers: lanekeeper.command[2] }, env).storage).toBe('redis://redis:6379')
  expect(redis.command.join(' ')).toContain('--appendonly yes --appendfsync always --maxmemory-policy noeviction')
  expect(redis.volumes.map((volume: string) => volume.split(':')[0])).toEqual(Object.keys(compose.volumes))
})
