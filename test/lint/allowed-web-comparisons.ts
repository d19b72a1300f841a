/** A comparison outside of the policy that decides nothing about access. */
export interface AllowedComparison {
  readonly path: string
  /** The source text that the rule reports, with each run of white space written as one space. */
  readonly expression: string
  readonly reason: string
}

/** Those of the web app. */
export const allowedWebComparisons: readonly AllowedComparison[] = [
  {
    path: 'src/web/tokens/allowances.ts',
    expression: 'engine.checkScope(id, facts).required === scope',
    reason: 'Groups permissions by the scope that the policy requires for them, to show them to a person.',
  },
  {
    path: 'src/web/boards/board-lists.ts',
    expression: 'known.has(user_id)',
    reason: 'Who is on the list already is not offered once more. The policy decides who may be added.',
  },
  {
    path: 'src/web/boards/board-lists.ts',
    expression: "board.visibility === 'private'",
    reason: 'Says in words what the visibility of a board means. The board was read by an operation.',
  },
  {
    path: 'src/web/boards/live.ts',
    expression: 'actor_id === userId',
    reason: 'What the person has done on their own page is not announced to them.',
  },
  {
    path: 'src/web/boards/authors.ts',
    expression: 'actor_id === caller.userId',
    reason: 'A person is called “you” on their own page. The feed, which was found readable, names everybody who made a change.',
  },
  {
    path: 'src/web/boards/history.ts',
    expression: 'entry.user_id === actor_id',
    reason: 'The entry of the audit trail is that of the change: the same request, by the same author. Nobody is asked for.',
  },
  {
    path: 'src/web/tokens/allowances.ts',
    expression: 'scopes.indexOf(scope)',
    reason: 'Finds the sentence of a row that is about a scope, to show it to a person.',
  },
  {
    path: 'src/web/boards/filters.ts',
    expression: 'user_id === assignee',
    reason: 'A filter by a person who is not in the workspace any more filters nothing. The policy decides about each card.',
  },
  {
    path: 'src/web/memberships.ts',
    expression: 'isActive(membership)',
    reason: 'The web app manages tokens only: it offers the workspaces in which a person can have one.',
  },
  {
    path: 'src/web/memberships.ts',
    expression: 'token?.user_id === session.user_id',
    reason: 'The web app manages tokens only: a person sees and ends their own (spec §3).',
  },
  {
    path: 'src/web/activity/audit-page.ts',
    expression: 'stated.subjectId !== userId',
    reason: 'It leaves the person out of an entry that is about themselves.',
  },
  {
    path: 'src/web/activity/entries-view.ts',
    expression: 'user_id !== reader',
    reason: 'An entry about what others did is shown without their address.',
  },
  {
    path: 'src/web/error-pages.ts',
    expression: "reason === 'admin'",
    reason: 'It chooses the sentence about a token that was not issued.',
  },
  {
    path: 'src/web/workspace/permission.ts',
    expression: 'membership === undefined',
    reason: 'Facts are read from a membership. Without one nothing is decided: the page does not exist.',
  },
  {
    path: 'src/web/workspace/revoke.ts',
    expression: 'found.token.user_id === session.user_id',
    reason: 'The permission table has decided. A token that its own user revokes is not said to be revoked by another.',
  },
  {
    path: 'src/web/workspace/rules.ts',
    expression: "scope === 'kanban:admin'",
    reason: 'A rule of the workspace about new tokens, for the message of the form. Their creation checks it again.',
  },
  {
    path: 'src/web/boards/board-page.ts',
    expression: "board.visibility === 'private'",
    reason: 'The board was found readable. It chooses a word that the page shows.',
  },
  {
    path: 'src/web/boards/overview-page.ts',
    expression: "visibility === 'private'",
    reason: 'The board was found readable. It chooses a word that the page shows.',
  },
  {
    path: 'src/web/boards/icons.ts',
    expression: 'SHAPES[name]',
    reason: 'The shape of an icon.',
  },
  {
    path: 'src/web/boards/authors.ts',
    expression: 'token?.user_id === caller.userId',
    reason: 'The name of a token is shown to its own person, as on their page of tokens; to others by the permission table.',
  },
  {
    path: 'src/web/operations/place.ts',
    expression: 'items.filter(([id]) => id !== card?.id)',
    reason: 'A card is not offered as its own blocker. The cards were listed for the person through the pipeline.',
  },
  {
    path: 'src/web/boards/people.ts',
    expression: 'names.get(userId)',
    reason: 'The display name of a member, which the member directory shows to all members.',
  },
  {
    path: 'src/web/boards/card-attachments.ts',
    expression: "visibility === 'private'",
    reason: 'The attachment was found readable. It chooses a word that the page shows.',
  },
  {
    path: 'src/web/boards/card-attachments.ts',
    expression: 'VISIBILITIES[one]',
    reason: 'The words of a choice in the form of an upload.',
  },
  {
    path: 'src/web/boards/card-data.ts',
    expression: 'author_id === userId',
    reason: 'It chooses a comment of each kind that the policy tells apart, and which of its answers is about a comment.',
  },
  {
    path: 'src/web/boards/card-facts.ts',
    expression: 'assignee_ids.includes(user_id)',
    reason: 'Who is assigned already is not offered again. The assignment is decided by the permission table.',
  },
]
