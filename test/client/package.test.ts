import { expect, test } from 'vitest'
import { readText } from '../lint/syntax.ts'
import { clientPackageFiles } from '../support/client-package.ts'

// `.ci/run` packs the package, installs it, and runs a program with it. test/architecture.test.ts reads what the client imports.

const files = clientPackageFiles()

test('the package of the client depends on nothing, runs no script, and has the version of the service', () => {
  const manifest = JSON.parse(files['package.json']) as Record<string, unknown>
  expect(Object.keys(manifest).filter((name) => /dependenc|^scripts$/i.test(name))).toEqual([])
  const { version, engines } = JSON.parse(readText('package.json')) as Record<string, unknown>
  expect(manifest).toMatchObject({ name: 'lanekeeper-client', version, engines, license: 'MIT', type: 'module' })
})

test('the page of the package of the client links to nothing outside of it, and keeps the words', () => {
  const page = files['README.md']
  const targets = [...page.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target!)
  expect(targets.length).toBeGreaterThan(3)
  expect(targets.filter((target) => !target.startsWith('#'))).toEqual([])
  expect(page).toContain('\neach operation, with')
})
