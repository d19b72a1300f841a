import type { PolicyFiles } from '../../src/policy/engine.ts'
import { edit } from './other-policy.ts'
import { shippedFiles } from './policy.ts'

const ROWS = ['workspace creator: ', 'workspace member:  ', 'workspace none:    ', 'private creator:   ', 'private member:    '] as const
const HIDDEN = '    private none:      [404,  404,    404]\n'
const decision = (name: string, comment: string, across: string, cells: string): string =>
  `  # ${comment}\n  ${name}:\n    down: board\n    across: ${across}\n    #                   none  caller  other\n${ROWS.map((row) => `    ${row}[${cells}]\n`).join('')}${HIDDEN}\n`

/** The example `policies/examples/four-eyes`: the shipped policy with these changes. */
export const fourEyes: PolicyFiles = edit(shippedFiles, [
  ['vocabulary', '      complete: [Card]\n', ''],
  ['vocabulary', '      move: [Column, Card]\n', '      move: [Column]\n'],
  ['vocabulary', '      answer: [Card]\n', ''],
  [
    'vocabulary',
    '  - groups: [caller, board]\n    not_found_unless: [board.access]\n    by_field: true\n',
    `  # Who worked on a card cannot complete it.
  - groups: [caller, board, card]
    not_found_unless: [board.access]
    actions:
      complete: [Card]

  # Who asked a question cannot answer it.
  - groups: [caller, board, question]
    not_found_unless: [board.access]
    actions:
      answer: [Card]

  # Only its holder moves a card that is claimed.
  - groups: [caller, board, claim]
    not_found_unless: [board.access]
    actions:
      move: [Card]

  - groups: [caller, board]
    not_found_unless: [board.access]
    by_field: true
`,
  ],
  [
    'permissions',
    'action: [create, update, move, complete, archive, restore]\n    subject: Card',
    'action: [create, update, archive, restore]\n    subject: Card',
  ],
  [
    'permissions',
    '  - id: P10\n',
    `  - id: P9.complete
    row: P9
    action: complete
    subject: Card
    conditions: { board.access: true, card.worker: { $in: [none, other] } }
    reason: Somebody else looks at what was done. Who held the last claim of the card cannot complete it.

  - id: P9.move
    row: P9
    action: move
    subject: Card
    conditions: { board.access: true, claim.holder: { $in: [none, caller] } }
    reason: A card that is claimed is moved by its holder alone.

  - id: P10
`,
  ],
  ['permissions', '    action: [answer, retry]\n', '    action: retry\n'],
  [
    'permissions',
    '  - id: X11.cards\n',
    `  - id: X11.answer
    row: X11
    action: answer
    subject: Card
    conditions: { board.access: true, question.author: { $in: [none, other] } }
    reason: Somebody else decides. Who asked the question cannot answer it.

  - id: X11.cards
`,
  ],
  ['operations', 'X11, answer Card,           access]', 'X11, answer Card,           access and another asker]'],
  ['operations', 'P9,  complete Card,         access]', 'P9,  complete Card,         access and another worker]'],
  [
    'operations',
    'P9,  move Card,             access, {\n                            column_id:    [P9,  complete Card,    access] }]',
    'P9,  move Card,             access and no other holder, {\n                            column_id:    [P9,  complete Card,    access and another worker] }]',
  ],
  [
    'operations',
    'create Subtask,   access],\n                            column_id:    [P9,  complete Card,    access] }]',
    'create Subtask,   access],\n                            column_id:    [P9,  complete Card,    access and another worker] }]',
  ],
  [
    'cases',
    '\n# Before every decision',
    `  # who held the last claim of the card
  worker:
    none: { card.worker: none }
    caller: { card.worker: caller }
    other: { card.worker: other }
  # who asked the question that waits for an answer
  asker:
    none: { question.author: none }
    caller: { question.author: caller }
    other: { question.author: other }
  # which token holds the card
  holder:
    none: { claim.holder: none }
    caller: { claim.holder: caller }
    other: { claim.holder: other }

# Before every decision`,
  ],
  [
    'cases',
    '  # Fields of a board that no update can change.\n',
    `${decision('access and another worker', '"board access", and somebody else has worked on the card.', 'worker', 'ok,   403,    ok')}${decision(
      'access and another asker',
      '"board access", and somebody else has asked.',
      'asker',
      'ok,   403,    ok',
    )}${decision(
      'access and no other holder',
      '"board access", and no other token holds the card.',
      'holder',
      'ok,   ok,     403',
    )}  # Fields of a board that no update can change.\n`,
  ],
])
