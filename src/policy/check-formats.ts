import type { Check } from './decided-space.ts'

/** The checks of a policy as TAP 14, which test runners of many languages read. */
export function renderTap(checks: readonly Check[]): string {
  const lines = checks.flatMap(({ name, failures }, i) => [
    `${failures.length === 0 ? 'ok' : 'not ok'} ${i + 1} - ${name.replaceAll(/[#\\]/g, '\\$&')}`,
    ...(failures.length === 0 ? [] : ['  ---', '  failures:', ...failures.map((failure) => `    - ${JSON.stringify(failure)}`), '  ...']),
  ])
  return ['TAP version 14', `1..${checks.length}`, ...lines].join('\n')
}

/** The checks of a policy as JUnit XML, which CI services show. */
export function renderJunit(checks: readonly Check[]): string {
  const failed = checks.filter(({ failures }) => failures.length > 0).length
  const cases = checks.flatMap(({ name, failures }) => [
    `  <testcase classname="policy" name="${escapeXml(name)}"${failures.length === 0 ? '/>' : '>'}`,
    ...failures.map((failure) => `    <failure message="${escapeXml(failure)}"/>`),
    ...(failures.length === 0 ? [] : ['  </testcase>']),
  ])
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="policy" tests="${checks.length}" failures="${failed}">`,
    ...cases,
    '</testsuite>',
  ].join('\n')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!)
}
