import { join } from 'node:path'

/** What the package `lanekeeper-client` is made with. */
interface ClientPackage {
  /** its files beside those that are compiled, with their texts */
  readonly clientPackageFiles: () => Readonly<Record<'package.json' | 'README.md' | 'LICENSE', string>>
  readonly writeClientPackage: (folder: string) => void
}

const made = (await import(new URL('../../src/build/client-package.js', import.meta.url).href)) as ClientPackage

export const { clientPackageFiles } = made

/** Installs the client of the build into the project of a user, without its declarations: only `npm pack` compiles these. */
export function installClient(project: string): void {
  made.writeClientPackage(join(project, 'node_modules/lanekeeper-client'))
}
