import { createHmac, timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/model/ids.ts'
import { newSecret, sign, type SignatureHeaders } from '../../src/webhooks/signature.ts'

const OLD = newSecret(systemRandom)
const NEW = newSecret(systemRandom)
const OTHER = newSecret(systemRandom)
// The official package compares with the clock of the process.
const NOW = Math.floor(Date.now() / 1000)
const BODY = JSON.stringify({ type: 'board.changed', data: { name: 'Grüße, 世界 🎉', nested: '.' } })
const delivery = { secrets: [NEW, OLD], id: 'dlv_0123456789', timestamp: NOW, body: BODY } as const

/** Written from the document alone: https://www.standardwebhooks.com, "Verifying signatures". */
function isGenuine(secret: string, headers: SignatureHeaders, body: string, now: number): boolean {
  if (Math.abs(now - Number(headers['webhook-timestamp'])) > 300) return false
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const content = Buffer.from([headers['webhook-id'], headers['webhook-timestamp'], body].join('.'), 'utf8')
  const expected = createHmac('sha256', key).update(content).digest()
  return headers['webhook-signature'].split(' ').some((one) => {
    const [version, signature = ''] = one.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

function official(secret: string, headers: SignatureHeaders, body: string): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}

describe.each([
  ['the official package', official],
  ['a verifier that was written from the document', (secret, headers, body) => isGenuine(secret, headers, body, NOW)],
] satisfies [string, typeof official][])('%s', (_name, verify) => {
  const headers = sign(delivery)

  test('accepts the signatures of the new and of the old secret, and no other', () => {
    expect([NEW, OLD, OTHER].map((secret) => verify(secret, headers, BODY))).toEqual([true, true, false])
    expect([NEW, OLD].map((secret) => verify(secret, sign({ ...delivery, secrets: [NEW] }), BODY))).toEqual([true, false])
  })

  test.each([
    ['another id', { ...headers, 'webhook-id': 'dlv_9' }, BODY],
    ['another time', { ...headers, 'webhook-timestamp': String(NOW - 1) }, BODY],
    ['a signature with another letter', { ...headers, 'webhook-signature': changed(sign({ ...delivery, secrets: [NEW] })) }, BODY],
    ['another body', headers, BODY.replace('board', 'bored')],
    ['a body with the same letters in another order of members', headers, JSON.stringify(Object.entries(JSON.parse(BODY) as object))],
    ['a delivery of six minutes ago', sign({ ...delivery, timestamp: NOW - 360 }), BODY],
  ])('refuses %s', (_what, headers, body) => {
    expect(verify(NEW, headers, body)).toBe(false)
  })
})

function changed({ 'webhook-signature': text }: SignatureHeaders): string {
  return text.replace(/^v1,./, (start) => (start.endsWith('A') ? 'v1,B' : 'v1,A'))
}

test('the example of the document has the signature that the document states', () => {
  const headers = sign({
    secrets: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
    id: 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    timestamp: 1_649_367_553,
    body: '{"email":"test@example.com","username":"test_user"}',
  })
  expect(headers).toEqual({
    'webhook-id': 'msg_27UH4WbU6Z5A5EzD8u03UvzRbpk',
    'webhook-timestamp': '1649367553',
    'webhook-signature': 'v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=',
  })
})

test('a secret is whsec_ and 32 random bytes in base64', () => {
  expect(newSecret((bytes) => new Uint8Array(bytes).fill(255))).toBe('whsec_//////////////////////////////////////////8=')
  expect(new Set(Array.from({ length: 100 }, () => newSecret(systemRandom))).size).toBe(100)
})

test('the newest secret signs first', () => {
  const both = sign(delivery)['webhook-signature']
  expect(both.split(' ')).toEqual([NEW, OLD].map((secret) => sign({ ...delivery, secrets: [secret] })['webhook-signature']))
})

test.each([
  ['an id with a full stop, which could move a part of the id into the time', { id: 'a.1' }],
  ['an empty id', { id: '' }],
  ['an id with a line break', { id: 'a\r\nb' }],
  ['a time with a fraction', { timestamp: NOW + 0.5 }],
  ['no time', { timestamp: Number.NaN }],
  ['a secret without its prefix', { secrets: ['c2VjcmV0LW9mLWEtd2ViaG9vaw=='] }],
  ['a secret that is not base64', { secrets: ['whsec_c2VjcmV0-W9mLWEtd2ViaG9vaw'] }],
  ['an empty secret', { secrets: [NEW, 'whsec_'] }],
] satisfies [string, object][])('%s is reported as a defect of the caller, without a secret', (_what, wrong) => {
  const attempt = (): unknown => sign({ ...delivery, ...(wrong as Partial<Parameters<typeof sign>[0]>) })
  expect(attempt).toThrow(TypeError)
  expect(attempt).not.toThrow(/c2Vj|whsec_/)
})
