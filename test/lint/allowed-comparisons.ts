import { allowedWebComparisons, type AllowedComparison } from './allowed-web-comparisons.ts'

/** An entry that matches nothing is an error, so this list cannot outlive the code that it speaks of. */
export const allowedComparisons: readonly AllowedComparison[] = [
  ...allowedWebComparisons,
  {
    path: 'src/resources/files/operations.ts',
    expression: 'rest.owner_id === caller.userId',
    reason: 'The file was found readable. It chooses whether its home board is shown: the owner knows the board to which they uploaded it.',
  },
  {
    path: 'src/admin/boards.ts',
    expression: 'board.creator_id === userId',
    reason: 'The operator may do everything. A board is not transferred to its creator.',
  },
  {
    path: 'src/admin/boards.ts',
    expression: 'isActive(membership)',
    reason: 'The operator may do everything. Only an active member can become the creator of a board.',
  },
  {
    path: 'src/admin/boards.ts',
    expression: 'entry !== undefined',
    reason: 'The operator may do everything. The new creator has no entry among the explicit members.',
  },
  {
    path: 'src/admin/boards.ts',
    expression: 'isActive(present)',
    reason: 'The operator may do everything. A creator who has left does not become an explicit member.',
  },
  {
    path: 'src/admin/boards.ts',
    expression: 'presentEntry === undefined',
    reason: 'The operator may do everything. An entry that exists is not written again.',
  },
  {
    path: 'src/admin/commands.ts',
    expression: 'user_id === user',
    reason: 'The operator may do everything. This refuses to add a member a second time.',
  },
  {
    path: 'src/admin/memberships.ts',
    expression: 'isActive(present)',
    reason: 'The operator may do everything. Adding an active member changes nothing.',
  },
  {
    path: 'src/admin/memberships.ts',
    expression: 'isActive(membership)',
    reason: 'The operator may do everything. Only an active membership can be ended or given another role.',
  },
  {
    path: 'src/admin/memberships.ts',
    expression: 'present !== undefined',
    reason: 'The operator may do everything. Adding an active member changes nothing.',
  },
  {
    path: 'src/auth/accounts/passkeys.ts',
    expression: 'challenge?.user_id !== userId',
    reason: 'A challenge is answered by the person for whom it was made. No resource is involved.',
  },
  {
    path: 'src/auth/accounts/second-step.ts',
    expression: 'challenge.user_id !== userId',
    reason: 'A challenge is answered by the person for whom it was made. No resource is involved.',
  },
  {
    path: 'src/auth/accounts/sign-up.ts',
    expression: 'owner.user_id !== userId',
    reason: 'Two accounts cannot have the same e-mail address. No resource is involved.',
  },
  {
    path: 'src/auth/tokens/issue.ts',
    expression: 'isActive(membership)',
    reason: 'Issuing is authentication: a token is issued only to an active member. Each use of the token is decided by the policy.',
  },
  {
    path: 'src/auth/tokens/issue.ts',
    expression: 'old.user_id !== userId',
    reason: 'Rotation is authentication: a person can rotate their own tokens only (spec §3).',
  },
  {
    path: 'src/auth/tokens/lifecycle.ts',
    expression: "scopes.includes('kanban:admin')",
    reason: 'Issuing is authentication: kanban:admin requires recent re-authentication (spec §3).',
  },
  {
    path: 'src/cli/policy/stored-answers.ts',
    expression: 'isActive(membership)',
    reason: 'It leaves out a member whose membership has ended since the list was read.',
  },
  {
    path: 'src/cli/policy/stored-answers.ts',
    expression: 'isActive(caller.membership)',
    reason: 'The operator asks what a member may do. A former member is none: every request of theirs is answered 401.',
  },
  {
    path: 'src/cli/policy/stored-answers.ts',
    expression: 'membership === undefined',
    reason: 'The operator names a user who never was a member of the workspace.',
  },
  {
    path: 'src/http/principal.ts',
    expression: 'isActive(membership)',
    reason: 'Authentication: a token whose user has left the workspace is answered with 401 (spec §5, "Outcomes").',
  },
  {
    path: 'src/http/question.ts',
    expression: 'schema.safeParse(value)',
    reason: 'Validates what a question names, in which `me` is the id of the caller.',
  },
  {
    path: 'src/resources/cards/named.ts',
    expression: 'isActive(tx.known(key))',
    reason: 'A filter by a user who is no member of the workspace is refused as a filter. It shows nothing of the user.',
  },
  {
    path: 'src/http/upload.ts',
    expression: 'fileVisibilities.find((known) => known === value)',
    reason: 'Validates the visibility that a request gives to a new file.',
  },
  {
    path: 'src/model/token.ts',
    expression: 'scopes.findLastIndex((scope) => chosen.includes(scope))',
    reason: 'Expands cumulative scopes for the account response and for the fact token.scope.',
  },
  {
    path: 'src/model/workspace.ts',
    expression: 'membership?.ended_at === null',
    reason: 'The definition of the predicate. The rule flags its uses.',
  },
  {
    path: 'src/resources/board-members/people.ts',
    expression: 'isActive(records[0])',
    reason: 'The list of board members shows a creator only while their membership is active.',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: "board.visibility === 'private'",
    reason: 'Chooses the list that has all people with access. The policy decides on each of them.',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: 'membership.user_id === board.creator_id',
    reason: 'Adding the creator changes nothing: the creator has no entry.',
  },
  {
    path: 'src/resources/changes/feed.ts',
    expression: 'isActive(membership)',
    reason: 'how a change of a board member is shown: former members are none, as in the list of members',
  },
  {
    path: 'src/resources/changes/feed.ts',
    expression: 'membership.user_id === board.creator_id',
    reason: 'the member `creator` of a board member',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: 'boardMember !== undefined',
    reason: 'Adding a board member a second time changes nothing.',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: 'boardMember === undefined',
    reason: 'Answers 404 if the person to remove is not on the board. The policy has the gate before it and the decision after it.',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: 'userId !== board.creator_id',
    reason: 'The creator is on the board without an entry, so removing them is a conflict (409) instead of 404.',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: 'userId === board.creator_id',
    reason: 'The creator of a board cannot be removed from it (409). This holds for every caller.',
  },
  {
    path: 'src/resources/boards/operations.ts',
    expression: 'current.visibility === visibility',
    reason: 'Setting the visibility that the board already has changes nothing.',
  },
  {
    path: 'src/resources/board-members/people.ts',
    expression: 'isActive(memberships[i])',
    reason: 'Leaves out former members, whose board memberships are about to be removed.',
  },
  {
    path: 'src/resources/board-members/operations.ts',
    expression: 'isActive(membership)',
    reason: 'Answers 404 for former members, whose board memberships are about to be removed.',
  },
  {
    path: 'src/resources/pending-removals.ts',
    expression: 'removal.user_id === userId',
    reason: 'Finds what is pending to be removed of a user.',
  },
  {
    path: 'src/resources/pending-removals.ts',
    expression: 'removal.user_ids.includes(userId)',
    reason: 'Finds what is pending to be removed of a user.',
  },
  {
    path: 'src/resources/pending-removals.ts',
    expression: 'removal.kept.includes(assignmentEntry(card, userId))',
    reason: 'An assignment that was made during the removal stays.',
  },
  {
    path: 'src/resources/pending-removals.ts',
    expression: "visibility === 'private'",
    reason: 'A private file of a former member counts as one of its board. The policy decides on the visibility that results.',
  },
  {
    path: 'src/resources/pending-removals.ts',
    expression: 'id !== userId',
    reason: 'Picks the assignee to remove from a card.',
  },
  {
    path: 'src/resources/cards/additions.ts',
    expression: 'membership',
    reason: 'A person who is absent is answered in their turn with 404, like one whom the policy denies.',
  },
  {
    path: 'src/resources/cards/search.ts',
    expression: 'assignee_id === caller.userId',
    reason: 'Chooses the index in which the cards are found. The policy decides about each of them.',
  },
  {
    path: 'src/resources/targets.ts',
    expression: 'isActive(membership)',
    reason: 'A board membership ends with the membership. The record may exist until it is removed.',
  },
  {
    path: 'src/resources/targets.ts',
    expression: 'record === undefined',
    reason: 'Answers 404 for any record that is absent, a membership among them.',
  },
  {
    path: 'src/store/indexing.ts',
    expression: 'isActive(member)',
    reason: 'The member directory lists active members.',
  },
  {
    path: 'src/resources/pending-removals.ts',
    expression: 'MARKS[visibility]',
    reason: 'The ETag of an attachment covers the visibility that it shows.',
  },
  {
    path: 'src/admin/record-kinds.ts',
    expression: "visibility === 'private'",
    reason: 'Reports a private file of a former member as damage: the end of the membership changes it.',
  },
  {
    path: 'src/store/indexing.ts',
    expression: "file.visibility === 'private'",
    reason: 'The index has the files that the end of a membership changes.',
  },
  {
    path: 'src/store/indexing.ts',
    expression: "board.visibility === 'workspace'",
    reason: 'Index entries give candidates. The policy filters what is read through them.',
  },
  {
    path: 'src/audit/recorder.ts',
    expression: "entries.flatMap(({ user_id, subject_id }) => [user_id, subject_id]).filter((id) => typeof id === 'string')",
    reason: 'It collects the people whom the entries of the audit trail concern, for an index.',
  },
  {
    path: 'src/audit/recorder.ts',
    expression: 'denials.get(key)',
    reason: 'It finds a denial that was recorded a moment before, to count it.',
  },
  {
    path: 'src/audit/trail.ts',
    expression: 'user_id === userId',
    reason: 'A batch has entries about several people. Those of one are read from their index; the others of the batch are left out.',
  },
  {
    path: 'src/audit/trail.ts',
    expression: 'subject_id === userId',
    reason: 'The same, for what others did with the tokens of that person.',
  },
  {
    path: 'src/auth/tokens/issue.ts',
    expression: "effectiveScopes(scopes).includes('kanban:admin')",
    reason: 'A rule of the workspace about new tokens: it limits what a token may be created with, not what a token may do.',
  },
  {
    path: 'src/admin/board-import.ts',
    expression: 'user_id === userId',
    reason: 'The operator may do everything. Requests are made as an active member only.',
  },
  {
    path: 'src/importers/plan.ts',
    expression: 'this.#to.members.find(comment.author) !== this.#to.userId',
    reason: 'Whether the report names a comment: it has another author here.',
  },
  ...["role === 'owner'"].map((expression) => ({
    path: 'src/admin/init.ts',
    expression,
    reason: 'It names a user in a message to the operator.',
  })),
  ...['member.user_id === ours'].map((expression) => ({
    path: 'src/importers/members.ts',
    expression,
    reason: 'The operator has named a user by id.',
  })),
  ...['user_id === user'].map((expression) => ({
    path: 'src/importers/import.ts',
    expression,
    reason: 'The operator may do everything. The importing user must be a member.',
  })),
  ...["this.#visibility === 'private'", "this.#visibility === 'workspace'", 'user === this.#to.userId'].map((expression) => ({
    path: 'src/importers/plan.ts',
    expression,
    reason: 'The operator may do everything. An import assigns only those who will have access to the board that it makes.',
  })),
  {
    path: 'src/importers/planka.ts',
    expression: 'onBoard.has(id)',
    reason: 'It reads the members of a board of another program.',
  },
]
