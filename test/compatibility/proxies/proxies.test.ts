import axios from 'axios'
import { EventSource } from 'eventsource'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTime } from '../../support/in-time.ts'
import { freePort } from '../../support/ports.ts'
import { startDemo, type DemoService } from '../demo.ts'
import { LIBRARIES } from '../http/clients.ts'
import { playScenario } from '../scenario.ts'
import { PROXIES, startProxy } from './proxy.ts'

// The service is below /kanban of the proxy, which compresses what it passes on and thereby changes the ETags.
describe.each(Object.entries(PROXIES))('behind %s', (name, program) => {
  let service: DemoService
  let url: string
  let headers: { authorization: string }
  let endProxy: (() => Promise<void>) | undefined
  beforeAll(async () => {
    const port = await freePort()
    url = `http://localhost:${port}/kanban`
    const servicePort = await freePort()
    service = await startDemo({ PORT: String(servicePort), LANEKEEPER_URL: url, LANEKEEPER_PROXIES: '1' })
    headers = { authorization: `Bearer ${service.tokenOf('kanban:write')}` }
    endProxy = await startProxy(program, port, servicePort)
  })
  afterAll(async () => {
    await endProxy?.()
    await service?.stop()
  })

  test.each(['axios', 'got'])('%s plays the scenario', async (library) => {
    const connect = LIBRARIES[library]!
    await playScenario(
      await connect(`${url}/v1`, service.tokenOf('kanban:write')),
      await connect(`${url}/v1`, service.tokenOf('kanban:admin', 'Adrian Cole')),
    )
  })

  test('a write with the ETag that the proxy has changed is made, and a stale one is refused', async () => {
    const api = axios.create({ baseURL: `${url}/v1`, headers: { ...headers, 'accept-encoding': 'gzip' }, validateStatus: () => true })
    const { id } = (await api.post('/boards', { name: 'Tags' })).data.data as { id: string }
    const read = await fetch(`${url}/v1/boards/${id}`, { headers: { ...headers, 'accept-encoding': 'gzip' } })
    const tag = read.headers.get('etag')!
    expect(read.headers.get('content-encoding')).toBe('gzip')
    expect(tag, name).toMatch(program.name === 'apache2' ? /-gzip"$/ : program.name === 'nginx' ? /^W\// : /./)
    const write = (ifMatch: string) => api.patch(`/boards/${id}`, { name: 'New' }, { headers: { 'if-match': ifMatch } })
    expect((await write(tag)).status).toBe(200)
    expect((await write(tag)).data.error.code).toBe('precondition_failed')
  })

  test('the events of a stream come at once', async () => {
    const { id } = (await axios.post(`${url}/v1/boards`, { name: 'Events' }, { headers })).data.data as { id: string }
    const source = new EventSource(`${url}/v1/boards/${id}/events`, {
      fetch: (address, init) => fetch(address, { ...init, headers: { ...init.headers, ...headers } }),
    })
    const change = new Promise((resolve, reject) => {
      source.addEventListener('change', ({ data }) => resolve(JSON.parse(data as string)))
      source.addEventListener('error', reject)
    })
    source.addEventListener('open', () => void axios.post(`${url}/v1/boards/${id}/columns`, { name: 'To do' }, { headers }))
    try {
      expect(await inTime(change, () => 'no event has come')).toHaveProperty('seq')
    } finally {
      source.close()
    }
  })

  test('pages, what they need and where they lead stay below the path', async () => {
    const page = await fetch(`${url}/docs`)
    expect(page.status).toBe(200)
    const links = [...(await page.text()).matchAll(/ (?:href|src|action)="(\/[^"]*)"/g)].map(([, link]) => link!)
    expect(links.length).toBeGreaterThan(3)
    expect(links.filter((link) => !link.startsWith('/kanban/'))).toEqual([])
    for (const link of new Set(links.filter((one) => /\.(?:css|js)/.test(one)))) {
      expect([link, (await fetch(new URL(link, url))).status]).toEqual([link, 200])
    }
    const signIn = await fetch(`${url}/app`, { redirect: 'manual', headers: { accept: 'text/html' } })
    expect(signIn.status).toBe(303)
    expect(new URL(signIn.headers.get('location')!, url).href).toMatch(new RegExp(`^${url}/`))
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { servers: { url: string }[] }
    expect(document.servers[0]!.url).toBe(`${url}/v1`)
  })
})
