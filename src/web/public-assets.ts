import { publicText, versionOf, type PublicText } from '../http/public-text.ts'
import { readAsset } from './assets.ts'
import { favicon } from './brand.ts'

const style = (...names: readonly `${string}.css`[]): PublicText => publicText('text/css; charset=utf-8', names.map(readAsset).join(''))
const script = (name: Parameters<typeof readAsset>[0]): PublicText => publicText('text/javascript; charset=utf-8', readAsset(name))
const icon = publicText('image/svg+xml', favicon)
const [colors, base] = ['colors.css', 'base.css'] as const

/** What pages load, by its path. */
const assets = {
  '/settings/assets/style.css': style(colors, base, 'app.css'),
  '/settings/assets/script.js': script('page.js'),
  '/settings/assets/theme.js': script('theme.js'),
  '/settings/assets/boards.js': script('boards.js'),
  '/settings/assets/unread-count.js': script('unread-count.js'),
  '/settings/assets/stream-worker.js': script('stream-worker.js'),
  '/docs/assets/style.css': style(colors, base, 'reference.css'),
  '/docs/assets/theme.js': script('theme.js'),
  '/docs/assets/script.js': script('reference.js'),
  '/favicon.svg': icon,
  '/favicon.ico': icon,
}
type AssetPath = keyof typeof assets

/** The asset at a path; undefined if there is none. */
export function findAsset(path: string): PublicText | undefined {
  return Object.hasOwn(assets, path) ? assets[path as AssetPath] : undefined
}

/** The address of an asset, with its version: browsers keep it for good, and ask for another address when it has changed. */
export function assetAddress(path: AssetPath): string {
  return `${path}?${versionOf(assets[path])}`
}
