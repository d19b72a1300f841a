/** What the package `lanekeeper-client` is made with. */
interface ClientPackage {
  /** its files beside those that are compiled, with their texts */
  readonly clientPackageFiles: () => Readonly<Record<'package.json' | 'README.md' | 'LICENSE', string>>
}

export const { clientPackageFiles } = (await import(new URL('../../.client.js', import.meta.url).href)) as ClientPackage
