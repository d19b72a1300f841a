import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { diffPolicies } from '../../src/policy/decision-diff.ts'
import { operations } from '../../src/resources/table.ts'
import { createReportData } from '../../src/web/policy-report/data.ts'
import { renderReport } from '../../src/web/policy-report/page.ts'
import { startForSuite } from '../support/board-team.ts'
import { handWrittenCells, handWrittenOperations } from '../support/hand-written-decisions.ts'
import { decideCell, withOwnDecisions, load, shipped, shippedFiles, toResponse } from '../support/policy.ts'
import { textOf } from '../support/visitor.ts'

const page = renderReport(shipped, operations)
const policy = /content-security-policy" content="([^"]+)"/.exec(page)![1]!.replaceAll('&#39;', "'")

/** The shipped policy with another text of its rules. */
const policyWith = (before: string, after: string) => {
  const { permissions } = shippedFiles
  return load({ ...shippedFiles, permissions: { ...permissions, text: permissions.text.replace(before, after) } })
}
/** The same policy with a rule that allows more. */
const widened = withOwnDecisions(policyWith('{ board.access: true, comment.author: caller }', '{ board.access: true }'))

/** A page without its data, scripts and style. */
const markupOf = (html: string) => html.replaceAll(/<(script|style)\b.*?<\/\1>/gs, '')

describe('the report of a policy', () => {
  test('has all rules with their words, every row, every fact and the hash, without a script', () => {
    const markup = markupOf(page)
    const text = textOf(markup)
    expect(text).toContain(shipped.hash)
    for (const { id, reason, row } of [...shipped.scopeRules, ...shipped.permissionRules]) {
      expect(markup).toContain(`id="rule-${id}"`)
      expect(text).toContain(reason)
      expect(text).toContain(shipped.vocabulary.rows.get(row)!.words)
    }
    for (const row of shipped.vocabulary.rows.keys()) expect(markup).toContain(`id="row-${row}"`)
    for (const { name, means } of shipped.vocabulary.facts.values()) {
      expect(markup).toContain(`id="fact-${name}"`)
      expect(text).toContain(means)
    }
    for (const { method, path } of operations) expect(text).toContain(`${method} ${path}`)
  })

  test('has no link that leads nowhere', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const links = [...markupOf(page).matchAll(/ href="([^"]+)"/g)].map(([, href]) => href!)
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter((href) => href !== 'data:,' && !ids.has(href.slice(1)))).toEqual([])
  })

  test('answers in every cell what the hand-written decisions and the engine say', () => {
    const data = createReportData(shipped, operations)
    const differences: string[] = []
    for (const operation of handWrittenOperations) {
      const { facts: names, fields, cells } = data.permissions[operation.permission]!
      for (const cell of handWrittenCells(operation)) {
        // Facts that the hand-written decisions do not state make no difference.
        const facts = Object.fromEntries(names.map((name) => [name, cell.facts[name] ?? data.facts[name]!.values[0]!]))
        let index = 0
        for (const name of names.toReversed())
          index = index * data.facts[name]!.values.length + data.facts[name]!.values.indexOf(facts[name]!)
        const at = fields === null ? index : index * fields.length + fields.indexOf(cell.field!)
        const answer = data.answers[cells[at]!]!
        const decision = decideCell(shipped, operation.permission, { facts, field: cell.field })
        const found = [answer.response, answer.outcome, answer.rules.join()]
        const wanted = [String(cell.response), decision.outcome, decision.rules.join()]
        if (found.join() !== wanted.join() || (cell.response !== 401 && toResponse(decision) !== cell.response))
          differences.push(`${operation.id} ${JSON.stringify(facts)}: ${found.join(' ')} instead of ${wanted.join(' ')}`)
      }
    }
    expect(differences).toEqual([])
  })

  test('allows exactly its own style and scripts, and no request', () => {
    const hashes = (tag: string) =>
      [...page.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(
        ([, text]) => `'sha256-${createHash('sha256').update(text!).digest('base64')}'`,
      )
    expect({ styles: hashes('style').length, scripts: hashes('script').length }).toEqual({ styles: 1, scripts: 2 })
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${hashes('style').join(' ')}`,
      `script-src ${hashes('script').join(' ')}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ])
    expect(markupOf(page)).not.toMatch(/\sstyle=|\son\w+=|https?:\/\/|\ssrc=/)
  })

  test('escapes the texts of the policy, also in its data', () => {
    const evil = '</script><img src=x onerror=alert(1)> & "quoted"'
    const html = renderReport(policyWith('reason: A label belongs to one board.', `reason: '${evil}'`), operations)
    expect(html).not.toContain('<img')
    expect(html.match(/<\/script>/g)).toHaveLength(page.match(/<\/script>/g)!.length)
    expect(JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)![1]!).rules['D3.label'].reason).toBe(evil)
  })

  test('says where the tables contradict the decisions', () => {
    const mutant = { ...widened, decisions: shipped.decisions }
    expect(textOf(markupOf(renderReport(mutant, operations)))).toMatch(/✗ \d+ not as the decisions say/)
    expect(textOf(markupOf(page))).toContain('✓ all as the decisions say')
  })

  test('shows what has changed since another policy', () => {
    const text = textOf(markupOf(renderReport(widened, operations, diffPolicies(shipped, widened))))
    expect(text).toContain(`Since the policy ${shipped.hash.slice(0, 12)}`)
    expect(text).toMatch(/allows more update Comment delete Comment .*comment\.author is other.*403 forbidden allowed .*not declared/)
    expect(text).toContain('P14')
    expect(textOf(markupOf(renderReport(shipped, operations, diffPolicies(shipped, shipped))))).toContain('Nothing has changed.')
    expect(textOf(markupOf(page))).not.toContain('Since the policy')
  })
})

describe('/policies', async () => {
  const service = await startForSuite()
  const switchedOff = await startForSuite({ policyPage: false })
  const reloaded = await startForSuite()
  const open = (path: string, init: RequestInit = {}, on = service) => on.app.fetch(new Request(`http://localhost${path}`, init))

  test('is the report, with an ETag, for any client that may keep it', async () => {
    const response = await open('/policies')
    const brand = /<p class="brand">.*?<\/p>/
    const text = await response.text()
    // Apart from the way back: a file has none.
    expect(text.replace(brand, '') === page.replace(brand, '')).toBe(true)
    expect([text, page].map((one) => brand.exec(one)![0].match(/(?<=href=")[^"]+/g))).toEqual([['/', '/docs'], null])
    expect({
      status: response.status,
      contentType: response.headers.get('content-type'),
      setCookie: response.headers.get('set-cookie'),
    }).toEqual({ status: 200, contentType: 'text/html; charset=utf-8', setCookie: null })
    expect(response.headers.get('content-security-policy')).toBe(`${policy}; frame-ancestors 'none'`)
    const again = await open('/policies', { headers: { 'if-none-match': response.headers.get('etag')! } })
    expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: '' })
    expect((await open('/policies', { method: 'POST' })).status).toBe(405)
    expect((await open('/policies/')).status).toBe(404)
  })

  test('is answered as any unknown address when it is switched off', async () => {
    const answer = async (path: string) => {
      const response = await open(path, {}, switchedOff)
      const headers = [...response.headers].filter(([name]) => name !== 'x-request-id')
      return JSON.stringify([response.status, headers, await response.text()]).replaceAll(/[0-9a-f-]{36}/g, 'ID')
    }
    expect(await answer('/policies')).toBe(await answer('/absent'))
    expect(await answer('/policies')).toMatch(/^\[404/)
    // Nothing links to it.
    for (const path of ['/', '/docs/boards.create']) expect(await (await open(path, {}, switchedOff)).text()).not.toContain('/policies')
  })

  test('shows the policy that decides at the time of the request', async () => {
    const before = (await open('/policies', {}, reloaded)).headers.get('etag')!
    reloaded.app.replacePolicy(widened)
    const after = await open('/policies', { headers: { 'if-none-match': before } }, reloaded)
    expect({ status: after.status, text: await after.text() }).toEqual({ status: 200, text: expect.stringContaining(widened.hash) })
    expect(after.headers.get('etag')).not.toBe(before)
  })
})
