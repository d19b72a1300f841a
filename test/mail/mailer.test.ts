import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { createMailer } from '../../src/mail/mailer.ts'
import { captureLog } from '../support/log.ts'
import { startMailServer } from '../support/mail-server.ts'

const mail = { to: 'ann@example.org', subject: 'Lanekeeper: Your password was changed.', text: 'Your password was changed.\n' }

test('a mail is sent by SMTP, with the sender of the settings', async () => {
  const captured = captureLog()
  const server = await startMailServer()
  createMailer({ url: server.url, from: 'Lanekeeper <kanban@example.org>', log: captured.log }).send(mail)
  const [received] = await server.got()
  await server.close()
  expect(received).toMatchObject({ from: 'kanban@example.org', to: [mail.to] })
  for (const line of ['From: Lanekeeper <kanban@example.org>', `Subject: ${mail.subject}`])
    expect(received!.source.split('\r\n')).toContain(line)
  expect(received!.source).toContain('\r\n\r\nYour password was changed.\r\n')
  expect(captured.text()).toBe('')
})

test('a mail that is refused, or cannot be sent, is logged without the address and the password', async () => {
  const server = await startMailServer(() => '550 no such mailbox for ann@example.org')
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port: closedPort } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  for (const [target, code] of [
    [server.port, 'EMESSAGE'],
    [closedPort, 'ESOCKET'],
  ] as const) {
    const captured = captureLog()
    const logged = new Promise<void>((resolve) => {
      const error = captured.log.error.bind(captured.log)
      captured.log.error = ((...args: Parameters<typeof error>) => (error(...args), resolve())) as typeof error
    })
    createMailer({ url: `smtp://me:hunter2@127.0.0.1:${target}?ignoreTLS=true`, from: 'kanban@example.org', log: captured.log }).send({
      ...mail,
      // As in a mail about notices, whose subject has texts of people.
      ...(target === closedPort && { subject: 'What somebody wrote', html: '<p>What somebody wrote</p>' }),
    })
    await logged
    expect(captured.lines).toMatchObject([{ level: 50, event: 'mail.failed', code: target === server.port ? expect.any(String) : code }])
    for (const secret of ['hunter2', 'ann@example.org', 'What somebody wrote']) expect(captured.text()).not.toContain(secret)
  }
  await server.got()
  await server.close()
})

test('a process that ends waits for the mails that it has begun', async () => {
  let isAnswered = false
  const server = await startMailServer(() => {
    isAnswered = true
    return '250 ok'
  })
  const mailer = createMailer({ url: server.url, from: 'kanban@example.org', log: captureLog().log })
  await mailer.settled()
  mailer.send(mail)
  expect(isAnswered).toBe(false)
  await mailer.settled()
  expect([isAnswered, server.mails.length]).toEqual([true, 1])
  await server.close()
})
