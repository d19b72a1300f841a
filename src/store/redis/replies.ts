import type { Duplex } from 'node:stream'
import { Cluster, type Redis } from 'ioredis'
import type { Connection } from './client.ts'

/**
 * Ends a connection whose replies cannot be parsed. The parser throws for a list that is too long or nested too deep,
 * and that would end the process. Commands without a reply fail then, as when the connection is lost. How long a reply may take is limited
 * by the timeout of its command.
 */
export function guardReplies(client: Connection): void {
  if (client instanceof Cluster) client.on('+node', guardNode)
  else guardNode(client)
}

function guardNode(client: Redis): void {
  client.on('connect', () => guardStream((client as unknown as { readonly stream: Duplex }).stream))
}

function guardStream(stream: Duplex): void {
  const emit = stream.emit.bind(stream) as (name: string | symbol, ...values: unknown[]) => boolean
  stream.emit = (name: string | symbol, ...values: unknown[]): boolean => {
    if (name !== 'data') return emit(name, ...values)
    try {
      return emit(name, ...values)
    } catch {
      // The message of the error could contain stored data.
      stream.destroy(new Error('a reply is not valid'))
      return true
    }
  }
}
