import { describe, expect, test } from 'vitest'
import type { Mail } from '../../src/mail/mailer.ts'
import { AlertMails } from '../../src/mail/alert-mails.ts'
import type { Alert, AlertKind } from '../../src/model/second-factor.ts'
import { MINUTE } from '../../src/model/time.ts'
import type { SharedCounters } from '../../src/store/counters.ts'
import { quiet } from '../support/log.ts'

const ANN = { user_id: 'usr_00000000000000000001', email: 'ann@example.org' }
const alertOf = (kind: AlertKind, thing = ''): Alert => ({
  id: 'alr_00000000000000000000',
  kind,
  at: '2026-11-20T12:00:00.000Z',
  agent: 'A browser',
  address: '192.0.2.1',
  session_id: null,
  name: thing,
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
    expect([send('passkey_added', 'One'), send('passkey_added', 'One')]).toEqual([true, false])
    expect([send('passkey_added', 'Two'), send('token_created', 'One'), send('token_created', 'CI')]).toEqual([true, true, true])
    time.now += 10 * MINUTE - 1
    expect(send('passkey_added', 'One')).toBe(false)
    time.now += 1
    expect(send('passkey_added', 'One')).toBe(true)
  })

  test('is one of at most twelve in any hour, whatever causes them', () => {
    const { send, time } = mailsOf()
    const at: number[] = []
    for (let second = 0; second < 3 * 3600; second++) {
      time.now = second * 1000
      if (send('passkey_added', `Passkey ${second}`)) at.push(time.now)
      if (send('token_created', `Token ${second}`)) at.push(time.now)
    }
    const inHour = at.map((begin) => at.filter((one) => one >= begin && one < begin + 60 * MINUTE).length)
    expect(Math.max(...inHour)).toBeLessThanOrEqual(12)
    expect(at.length).toBe(18)
  })

  test('uses up none of the mails of another person', () => {
    const { send } = mailsOf()
    for (let i = 0; i < 100; i++) send('token_created', `Token ${i}`)
    expect([send('new_sign_in'), send('new_sign_in', '', { ...ANN, user_id: 'usr_00000000000000000002' })]).toEqual([false, true])
  })

  test('is counted by all processes together', async () => {
    const sums = new Map<string, number>()
    const counters: SharedCounters = {
      add: async (key, points) => sums.set(key, (sums.get(key) ?? 0) + points).get(key),
      close: async () => undefined,
    }
    const [one, other] = [mailsOf(counters), mailsOf(counters)]
    await one.deliver('passkey_added', 'One')
    await other.deliver('passkey_added', 'One')
    for (let i = 0; i < 20; i++) await (i % 2 === 0 ? one : other).deliver('token_created', `Token ${i}`)
    expect({ one: one.sent.length, other: other.sent.length }).toEqual({ one: 4, other: 2 })
  })

  test('is counted by this process alone while the shared counters cannot be reached', async () => {
    const { deliver, sent } = mailsOf({ add: async () => undefined, close: async () => undefined })
    for (let i = 0; i < 20; i++) await deliver('token_created', `Token ${i >> 1}`)
    expect(sent.length).toBe(6)
  })
})
