import type { Scenario } from './scenario.ts'
import type { Service } from './service.ts'

/** The caller gets a notice: a token of theirs mentions them. */
export async function causeNotice(service: Service, { caller, params }: Scenario): Promise<void> {
  const reply = await service.send(caller.admin, 'POST', `/cards/${params['card_id']}/comments`, { body: `@${caller.id}` })
  if (reply.status !== 201) throw new Error(reply.text)
}
