import type { Connection, Replication } from './client.ts'

/**
 * Sends a command with one key, and behind it, over the same connection, the question how many replicas have it. (WAIT asks for
 * everything that was written before it on its connection, and on any other one.) A script must be sent as EVAL: if EVALSHA
 * failed and the script was sent again, it would come after the question.
 * @returns the reply, and the number of replicas that had it in time
 */
export async function sendAndWait(
  client: Connection,
  command: readonly [name: string, ...values: (string | number | Buffer)[]],
  { replicas, timeout }: Replication,
): Promise<[reply: unknown, replicas: number]> {
  const results = (await client.pipeline([[...command], ['wait', replicas, timeout]]).exec())!
  const [[error, reply], [waitError, count]] = results as [[Error | null, unknown], [Error | null, number]]
  if (error !== null) throw error
  // Not as a refusal: the command itself is done.
  if (waitError !== null) throw new Error(waitError.message)
  return [reply, count]
}
