import { describe, expect, test } from 'vitest'
import type { Mail } from '../../src/mail/mailer.ts'
import { AlertMails } from '../../src/mail/alert-mails.ts'
import type { Alert, AlertKind } from '../../src/model/second-factor.ts'
import { MINUTE } from '../../src/model/time.ts'
import type { SharedCounters } from '../../src/store/counters.ts'
import { quiet } from '../support/log.ts'

const ANN = { user_id: 'usr_00000000000000000001', email: 'ann@example.org', email_confirmed: true }
const alertOf = (kind: AlertKind, thing = ''): Alert => ({
  id: 'alr_00000000000000000000',
  kind,
  at: '2026-11-20T12:00:00.000Z',
  agent: 'A browser',
  address: kind === 'webhook_disabled' ? thing : '192.0.2.1',
  session_id: null,
  name: kind === 'webhook_disabled' ? 'hooks.example' : thing,
})
function mailsOf(counters?: SharedCounters) {
  const sent: Mail[] = []
  const time = { now: 0 }
  const mails = new AlertMails({ send: (mail) => void sent.push(mail), clock: () => time.now, log: quiet, counters })
  const send = (kind: AlertKind, thing?: string, to: typeof ANN = ANN) => {
    const before = sent.length
    void mails.send(to, alertOf(kind, thing), { subject: kind, text: '' })
    return sent.length > before
  }
  const deliver = async (kind: AlertKind, thing?: string) => mails.send(ANN, alertOf(kind, thing), { subject: kind, text: '' })
  return { sent, time, send, deliver }
}

describe('a mail about an alert', () => {
  test('comes once in ten minutes for each kind and subject', () => {
    const { send, time } = mailsOf()
    expect([send('webhook_disabled', 'whk_1'), send('webhook_disabled', 'whk_1')]).toEqual([true, false])
    expect([send('webhook_disabled', 'whk_2'), send('token_created', 'whk_1'), send('token_created', 'CI')]).toEqual([true, true, true])
    time.now += 10 * MINUTE - 1
    expect(send('webhook_disabled', 'whk_1')).toBe(false)
    time.now += 1
    expect(send('webhook_disabled', 'whk_1')).toBe(true)
  })

  test('is one of at most twenty in any hour, whatever causes them', () => {
    const { send, time } = mailsOf()
    const at: number[] = []
    for (let second = 0; second < 3 * 3600; second++) {
      time.now = second * 1000
      if (send('webhook_disabled', `whk_${second}`)) at.push(time.now)
      if (send('token_created', `Token ${second}`)) at.push(time.now)
    }
    const inHour = at.map((begin) => at.filter((one) => one >= begin && one < begin + 60 * MINUTE).length)
    expect(Math.max(...inHour)).toBeLessThanOrEqual(20)
    expect(at.length).toBe(30)
  })

  test('about security comes after any number of others, and of others too', () => {
    const { send } = mailsOf()
    for (let i = 0; i < 1000; i++) send('webhook_disabled', `whk_${i}`)
    expect([send('webhook_disabled', 'whk_new'), send('new_sign_in')]).toEqual([false, true])
    expect(send('webhook_disabled', 'whk_new', { ...ANN, user_id: 'usr_00000000000000000002' })).toBe(true)
  })

  test.each([
    [true, true],
    [undefined as never, true],
    [false, false],
  ])('about a webhook goes to an address whose confirmation is %s: %s; about security it always does', (email_confirmed, isSent) => {
    const { send } = mailsOf()
    const to = { ...ANN, email_confirmed }
    expect([send('webhook_disabled', 'whk_1', to), send('password_changed', '', to)]).toEqual([isSent, true])
  })

  test('is counted by all processes together', async () => {
    const sums = new Map<string, number>()
    const counters: SharedCounters = {
      add: async (key, points) => sums.set(key, (sums.get(key) ?? 0) + points).get(key),
      close: async () => undefined,
    }
    const [one, other] = [mailsOf(counters), mailsOf(counters)]
    await one.deliver('webhook_disabled', 'whk_1')
    await other.deliver('webhook_disabled', 'whk_1')
    for (let i = 0; i < 20; i++) await (i % 2 === 0 ? one : other).deliver('token_created', `Token ${i}`)
    expect({ one: one.sent.length, other: other.sent.length }).toEqual({ one: 4, other: 3 })
  })

  test('is counted by this process alone while the shared counters cannot be reached', async () => {
    const { deliver, sent } = mailsOf({ add: async () => undefined, close: async () => undefined })
    for (let i = 0; i < 20; i++) await deliver('webhook_disabled', `whk_${i >> 1}`)
    expect(sent.length).toBe(4)
  })
})
