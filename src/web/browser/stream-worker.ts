/** A shared worker: all tabs of a person in a workspace have one stream. */
import { BoardStream, type Message } from './board-stream.ts'

/** What a tab asks for: the updates of a board, or none any more. */
export interface Ask {
  readonly base: string
  readonly board: string
  readonly after: string
}

let stream: BoardStream | undefined

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports as [MessagePort]
  let leave: (() => void) | undefined
  port.addEventListener('message', ({ data }: MessageEvent<Ask | null>) => {
    leave?.()
    leave = undefined
    if (data === null) return
    stream ??= new BoardStream(data.base)
    leave = stream.watch(data.board, data.after, (message: Message) => port.postMessage(message))
  })
  port.start()
})
