import { beforeEach, describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/model/time.ts'
import { issueToken } from '../../src/auth/tokens/issue.ts'
import { distance, remaining } from '../../src/web/time-texts.ts'
import { startForSuite } from '../support/board-team.ts'
import type { Person } from '../support/service.ts'
import { decoded, plaintextIn, signedIn, textOf, type Visitor } from '../support/visitor.ts'

test.each([
  [29 * DAY, 'in 29 days'],
  [28 * DAY + 1, 'in 29 days'],
  [DAY, 'in 1 day'],
  [DAY - 1, 'in 24 hours'],
  [MINUTE, 'in 1 minute'],
  [MINUTE - 1, 'in less than a minute'],
  [0, 'just now'],
  [-MINUTE + 1, 'just now'],
  [-MINUTE, '1 minute ago'],
  [-2 * HOUR, '2 hours ago'],
  [-DAY - HOUR, '1 day ago'],
])('a time that is %d ms from now is "%s"', (milliseconds, text) => {
  const now = Date.parse('2026-11-20T12:00:00.000Z')
  expect(distance(now + milliseconds, now)).toBe(text)
})

test.each([
  [2 * DAY - 1, '2 d'],
  [HOUR, '1 h'],
  [HOUR - 1, '60 min'],
  [MINUTE, '1 min'],
  [MINUTE - 1, '< 1 min'],
  [-HOUR, '< 1 min'],
])('a clock that has %d ms left shows "%s"', (milliseconds, text) => {
  expect(remaining(milliseconds, 0)).toBe(text)
})

describe('the pages of tokens', async () => {
  let person: Person
  let visitor: Visitor
  const service = await startForSuite()
  const workspaceId = await service.workspace('Acme')
  beforeEach(async () => {
    service.now = Date.parse('2026-11-20T12:00:00.000Z')
    person = await service.person(workspaceId)
    visitor = await signedIn(service, person)
  })
  const issue = (name: string, days: number) =>
    service.write(workspaceId, (tx) =>
      issueToken(tx, { userId: person.id, name, scopes: ['kanban:read'], lifetime: days * DAY }, service.deps),
    )
  const namesIn = (html: string) => [...html.matchAll(/<h3 dir="auto">([^<]*)<\/h3>/g)].map(([, name]) => name)
  const open = async (path = '') => {
    const { text } = await visitor.open(`/settings/tokens${path}`)
    const [active = '', ended = ''] = text.split('<details class="ended"')
    return { text, active: namesIn(active), ended: namesIn(ended), isOpen: /<details class="ended" open/.test(text) }
  }

  test('a new token is offered the first name of agent-01, agent-02, … that is free, also of ended ones, and another one is kept', async () => {
    const offered = async (query = '') =>
      / name="name"[^>]* value="([^"]*)"/.exec((await visitor.open(`/settings/tokens/new?workspace=${workspaceId}${query}`)).text)?.[1]
    expect(await offered()).toBe('agent-01')
    await issue('agent-02', 30)
    await issue('agent-01', 1)
    service.now += 2 * DAY
    visitor = await signedIn(service, person)
    expect([await offered(), await offered('&name=CI')]).toEqual(['agent-03', 'CI'])
  })

  test('active tokens come first, and those that have ended are collapsed', async () => {
    await issue('Short', 1)
    await issue('Long', 90)
    service.now += 2 * DAY
    visitor = await signedIn(service, person)
    const { text, active, ended, isOpen } = await open()
    expect({ active: active.toSorted(), ended, isOpen }).toEqual({
      active: ['Long', 'test', 'test', 'test', 'test'],
      ended: ['Short'],
      isOpen: false,
    })
    expect(textOf(text)).toContain('1 ended token Short expired kanban:read Ended 1 day ago')
    expect(text).toContain('<time datetime="2027-02-18T12:00:00.000Z" title="2027-02-18 12:00 UTC" data-distance="true">in 88 days</time>')
  })

  test('a search finds names without regard to case, and whole ids, also among ended tokens', async () => {
    const { token } = await issue('Nächtlicher <Build>', 1)
    await issue('nightly', 90)
    await issue('Deploy', 90)
    service.now += 2 * DAY
    visitor = await signedIn(service, person)
    const search = async (q: string) => {
      const { active, ended, isOpen, text } = await open(`?${new URLSearchParams({ q })}`)
      return [active, ended, isOpen, /<p class="hint" role="status">(.*?)<\/p>/.exec(text)?.[1]?.replaceAll(/<\/?bdi>/g, '')]
    }
    expect(await search('NIGHT')).toEqual([['nightly'], [], false, '1 of 7 tokens has “NIGHT” in the name.'])
    expect(await search(' NA\u0308CHT ')).toEqual([[], ['Nächtlicher &lt;Build>'], true, '1 of 7 tokens has “NA\u0308CHT” in the name.'])
    expect((await search(token.id))[1]).toEqual(['Nächtlicher &lt;Build>'])
    expect(await search('<b>')).toEqual([[], [], false, 'None of 7 tokens has “&lt;b>” in the name.'])
    expect((await search('x'.repeat(5000)))[0]).toEqual([])
    const [active, ended, isOpen, status] = (await search('')) as [string[], string[], boolean, unknown]
    expect({ active: active.toSorted(), ended, isOpen, status }).toStrictEqual({
      active: ['Deploy', 'nightly', 'test', 'test', 'test', 'test'],
      ended: ['Nächtlicher &lt;Build>'],
      isOpen: false,
      status: undefined,
    })
  })

  test.each<[string, Record<string, string>, number | string]>([
    ['a preset', { days: '60' }, 60],
    ['a number with "Custom"', { days: 'custom', custom_days: '45' }, 45],
    ['a number, without a script that chooses "Custom"', { days: '30', custom_days: '45' }, 45],
    ['a preset and an empty number', { days: '7', custom_days: ' ' }, 7],
    ['"Custom" without a number', { days: 'custom', custom_days: '' }, 'must be a whole number'],
    ['nothing', {}, 'must be a whole number'],
    // Further ones are in forms.test.ts.
    ['a text that is no number', { days: 'custom', custom_days: '+5' }, 'must be a whole number'],
  ])('the lifetime of a new token is what was chosen: %s', async (_case, fields, expected) => {
    const path = `/settings/tokens/new?workspace=${workspaceId}`
    const form = await visitor.open(path)
    expect(
      [...form.text.matchAll(/name="days" value="(\w+)"( checked)?/g)].map(([, value, checked]) => `${value}${checked ?? ''}`),
    ).toEqual(['7', '30 checked', '60', '90', 'custom'])
    expect(form.shown).toContain('30 days until 2026-12-20')
    const page = await visitor.submit({ name: 'CI', scope: 'kanban:read', ...fields }, '/settings/tokens/new')
    if (typeof expected === 'number') return expect(page.shown).toContain(`after ${expected} days`)
    expect(page.status).toBe(422)
    // What was entered stays, and is marked.
    const entered = fields['custom_days'] ? `value="${fields['custom_days'].replaceAll('+', String.raw`\+`)}"` : 'value'
    expect(page.text).toMatch(new RegExp(`name="custom_days"[^>]* ${entered} [^>]*aria-invalid="true"`))
    expect(page.text.includes('name="days" value="custom" checked')).toBe('days' in fields)
    expect(page.text).toContain('id="days-error"')
    return undefined
  })

  test('a rotation offers the lifetime of the old token, also if it is no preset', async () => {
    const { token } = await issue('CI', 45)
    const page = await visitor.open(`/settings/tokens/${workspaceId}/${token.id}/rotate`)
    expect(page.text).toMatch(/name="days" value="custom" checked/)
    expect(page.text).toMatch(/name="custom_days"[^>]*value="45"/)
    expect(plaintextIn(await visitor.submit({ days: 'custom', custom_days: '45' }))).toMatch(/^lk_pat_/)
  })

  test('the examples for curl, the client and MCP have the new token and the public address', async () => {
    await visitor.choose(workspaceId)
    const page = await visitor.submit({}, '/settings/confirm')
    const plaintext = plaintextIn(page)
    const example = (id: string) => decoded(new RegExp(`<code id="${id}"[^>]*>([^<]*)<`).exec(page.text)![1]!)
    expect(example('curl')).toBe(`curl -s http://localhost/v1/account -H 'Authorization: Bearer ${plaintext}'`)
    expect(example('client')).toContain(`LANEKEEPER_TOKEN=${plaintext}\n`)
    expect(example('client')).toContain(`createClient({ url: 'http://localhost', token: process.env.LANEKEEPER_TOKEN })`)
    expect(JSON.parse(example('mcp'))).toEqual({
      mcpServers: { lanekeeper: { type: 'http', url: 'http://localhost/mcp', headers: { Authorization: `Bearer ${plaintext}` } } },
    })
    expect([...page.text.matchAll(/data-copy="(\w+)"/g)].map(([, id]) => id)).toEqual(['plaintext', 'curl', 'client', 'mcp'])
    // Everything with the token is removed when the person leaves the page.
    expect(page.text.split('data-once')[0]).not.toContain(plaintext)
    expect(page.text.split('I have stored it')[1]).not.toContain(plaintext)
    expect({ cacheControl: page.headers.get('cache-control'), location: page.location }).toEqual({
      cacheControl: 'no-store',
      location: null,
    })
  })
})
