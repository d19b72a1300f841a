// `npm run screenshot`: starts the demo in memory, and writes `.github/screenshot.png`: a board as a person sees it, and beside it the report
// of the policy. Nothing of it is a secret: tokens and passwords are on neither page.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'

const pathOf = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const TARGET = pathOf('.github/screenshot.png')
/** The size of both pages in CSS pixels, and the width of each in the picture. */
const PAGE = { width: 1190, height: 960 }
const WIDTH = 800

/** Starts the service. @returns the process, and what its start printed */
async function startDemo() {
  const child = spawn(process.execPath, [pathOf('dist/lanekeeper.js'), 'serve', '--json'], {
    env: { PATH: process.env['PATH'], PORT: '0', LANEKEEPER_LOG: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8')
  for await (const part of child.stdout.iterator({ destroyOnReturn: false })) {
    text += part
    if (text.includes('\n')) break
  }
  return { child, demo: JSON.parse(text) }
}

const { child, demo } = await startDemo()
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  const context = await browser.newContext({
    baseURL: demo.url,
    viewport: PAGE,
    deviceScaleFactor: 1.5,
    colorScheme: 'light',
    locale: 'en',
  })
  const page = await context.newPage()

  const { email, password } = demo.people.find(({ display_name }) => display_name === 'Olivia Stone')
  const board = demo.boards.find(({ name }) => name === 'Product roadmap')
  await page.goto(`/app/${board.workspace_id}/boards/${board.id}`)
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: board.name }).waitFor()
  // A new browser has an alert on every page.
  for (const alerts of await page.locator('.alerts summary').all()) {
    await alerts.click()
    await page.locator('.alerts').getByRole('button', { name: 'Dismiss' }).click()
  }
  const left = await page.screenshot()

  await page.goto('/policies')
  // Operations whose answers differ from column to column.
  await page.getByLabel('Find', { exact: true }).fill('board_members')
  const right = await page.screenshot()

  const image = (png, alt) => `<img alt="${alt}" src="data:image/png;base64,${png.toString('base64')}">`
  const pair = await browser.newPage({ viewport: { width: 2 * WIDTH + 36, height: 100 } })
  await pair.setContent(`<style>
    body { margin: 0; padding: 12px; display: flex; align-items: flex-start; gap: 12px; background: #eaeef2 }
    img { width: ${WIDTH}px; border-radius: 8px; box-shadow: 0 1px 4px #0003 }
  </style>${image(left, 'board')}${image(right, 'policy report')}`)
  await pair.screenshot({ path: TARGET, fullPage: true })
  console.log(`${TARGET}: ${Math.ceil(statSync(TARGET).size / 1024)} KiB`)
} finally {
  await browser.close()
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
