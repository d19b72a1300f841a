import { filesBelow } from '../lint/syntax.ts'

/** The files that decide: folder, then the names in it. `*` is every file of the folder. Each must have {@link REQUIRED_SCORE}. */
const CRITICAL: Readonly<Record<string, string>> = {
  'src/policy': 'engine compile rules prove enumerate decision-diff hand-written-cases hand-written-decisions',
  'src/authz': 'facts decisions',
  'src/governor': 'turns quotas cost',
  'src/http':
    'pipeline steps attempt replay permission preconditions principal idempotency evaluation access-questions access-search authzen authzen-form batch',
  'src/resources': 'targets pending-removals removals cascades',
  'src/resources/cards': 'blockers positions',
  'src/resources/changes': 'change-log',
  'src/resources/claims': '*',
  'src/store': 'transaction read-set indexing partition appended',
  'src/auth/tokens': '*',
  'src/auth/provider': 'identities',
  'src/auth/accounts': 'sessions sign-in passkeys second-factor throttle',
  'src/decision-log': 'log verify',
}

/** Percent of the mutants that a test must kill. */
export const REQUIRED_SCORE = 95

/** The paths of all critical files. A file that was renamed is still in the list: a test of the quick tier finds it. */
export function criticalFiles(): string[] {
  return Object.entries(CRITICAL).flatMap(([folder, names]) =>
    names === '*' ? filesBelow(folder).filter((path) => path.endsWith('.ts')) : names.split(' ').map((name) => `${folder}/${name}.ts`),
  )
}
