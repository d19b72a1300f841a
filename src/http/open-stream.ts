import type { ServerRequest } from 'srvx'
import type { StreamedResult } from '../resources/result.ts'
import { Transaction } from '../store/transaction.ts'
import { toApiError } from './error-mapping.ts'
import { EventStream } from './event-stream.ts'
import { clientSignal } from './in-flight.ts'
import type { Services } from './services.ts'
import { Waiter } from './waiting.ts'

/** Opens a stream of events of a workspace. Streams that follow the same index share what they read ahead. */
export function openStream(
  services: Services,
  { request, requestId }: { readonly request: ServerRequest; readonly requestId: string },
  workspaceId: string,
  { index }: Pick<StreamedResult, 'index'>,
): EventStream {
  const { store, random, log, streamReads } = services
  return new EventStream({
    requestId,
    waiter: new Waiter(store, workspaceId, index, waitSignal(services, request)),
    readAhead: (found, hintedAt) =>
      streamReads.read([workspaceId, found.index.name, found.position].join(' '), hintedAt, () =>
        found.readNext(new Transaction(store, workspaceId, random)),
      ),
    toApiError: (error) => toApiError(log, requestId, error),
  })
}

/** A signal that ends the waiting of a request: its client has left, or the service stops. */
export function waitSignal({ stopping }: Pick<Services, 'stopping'>, request: ServerRequest): AbortSignal {
  const client = clientSignal(request)
  return stopping === undefined ? client : AbortSignal.any([client, stopping])
}
