import type { CommandIo } from '../../src/admin/deps.ts'

/** The input and output of a command, as a test provides and collects them. */
export interface TestIo extends CommandIo {
  readonly written: string[]
  readonly reported: string[]
}

/**
 * @param lines the lines of input
 * @param between what happens before one of them is read
 */
export function createIo(lines: readonly string[] = [], between?: { readonly at: number; readonly run: () => Promise<unknown> }): TestIo {
  const [written, reported]: [string[], string[]] = [[], []]
  return {
    written,
    reported,
    progress: (text) => void reported.push(text),
    write: async (line) => void written.push(line),
    lines: (async function* () {
      yield* lines.slice(0, between?.at)
      if (between === undefined) return
      await between.run()
      yield* lines.slice(between.at)
    })(),
  }
}
