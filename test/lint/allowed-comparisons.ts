const CHALLENGE = 'A challenge is answered by the person for whom it was made. No resource is involved.'
const PROOF = 'A proof is made by the person for whom it was asked. No resource is involved.'
const PENDING = 'Finds what is pending to be removed of a user.'
const LAST_OWNER = 'A workspace keeps its last owner, whoever asks: it limits what is stored, and gives access to nothing.'
const WORD = 'The board was found readable. It chooses a word that the page shows.'
const TOLD = 'Who is told of a change. The policy then decides whether they may read it.'
const DISPLAY_NAME = 'The display name of a member, which the member directory shows to all members.'

/**
 * What the rule finds and what decides nothing about access, with the reason: path → source text with each run of white space written as
 * one space → reason. An entry that matches nothing is an error, so this list cannot outlive the code that it speaks of.
 */
export const allowedComparisons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/audit/trail.ts': {
    'user_id === userId':
      'A batch has entries about several people. The entries of one are read from their index; the others of the batch are left out.',
    'subject_id === userId': 'The same, for what others did with the tokens of that person.',
  },
  'src/auth/accounts/passkeys.ts': {
    'challenge?.user_id !== userId': CHALLENGE,
  },
  'src/auth/accounts/second-step.ts': {
    'challenge.user_id !== userId': CHALLENGE,
  },
  'src/auth/accounts/sign-up.ts': {
    'owner.user_id !== userId': 'Two accounts cannot have the same e-mail address. No resource is involved.',
  },
  'src/auth/provider/identities.ts': {
    'bound === userId': PROOF,
    'one !== userId': 'An address that somebody else is invited with binds nobody.',
  },
  'src/auth/tokens/issue.ts': {
    'isActive(membership)':
      'Issuing is authentication: a token is issued only to an active member. Each use of the token is decided by the policy.',
    "effectiveScopes(scopes).includes('kanban:admin')":
      'A rule of the workspace about new tokens: it limits what a token may be created with, not what a token may do.',
    'old.user_id !== userId': 'Rotation is authentication: a person can rotate their own tokens only (spec §3).',
  },
  'src/auth/tokens/lifecycle.ts': {
    "scopes.includes('kanban:admin')": 'Issuing is authentication: kanban:admin requires recent re-authentication (spec §3).',
  },
  'src/cli/policy/assumed-caller.ts': {
    'membership === undefined': 'The operator names a user who never was a member of the workspace.',
  },
  'src/cli/policy/stored-answers.ts': {
    'isActive(caller.membership)':
      'The operator asks what members may do. A former member may do nothing: every request of theirs is answered 401.',
  },
  'src/http/authzen.ts': {
    'id === caller.userId': 'The person who asks is named by their own id, and not only as me.',
    'isActive(membership)': 'A former member may do nothing: a question about them is answered like one about a person who does not exist.',
  },
  'src/http/evaluation.ts': {
    'caller.userId !== request.caller.userId':
      'A question about another person is decided for the person who asks as well. The policy decides whether they may ask.',
  },
  'src/http/idempotency.ts': {
    visibility: 'A part of what the fingerprint of a request covers.',
  },
  'src/http/principal.ts': {
    'isActive(membership)': 'Authentication: a token whose user has left the workspace is answered with 401 (spec §5, "Outcomes").',
  },
  'src/http/upload.ts': {
    "this.#visibility ?? 'board'": 'The visibility of a new file if the request names none.',
  },
  'src/model/board.ts': {
    "['workspace', 'private']": 'The definition of the visibilities.',
  },
  'src/model/file.ts': {
    "['workspace', 'board', 'private']": 'The definition of the visibilities.',
  },
  'src/model/workspace.ts': {
    "['owner', 'admin', 'member']": 'The definition of the roles.',
    'membership?.ended_at === null': 'The definition of the predicate. The rule flags its uses.',
  },
  'src/resources/board-members/operations.ts': {
    "board.visibility === 'private'": 'Chooses the list that has all people with access. The policy decides on each of them.',
    'membership.user_id === board.creator_id': 'Adding the creator changes nothing: the creator has no entry.',
    'boardMember !== undefined': 'Adding a board member a second time changes nothing.',
    'boardMember === undefined':
      'Answers 404 if the person to remove is not on the board. The policy has the gate before it and the decision after it.',
    'isActive(membership)': 'Answers 404 for former members, whose board memberships are about to be removed.',
    'userId !== board.creator_id': 'The creator is on the board without an entry, so removing them is a conflict (409) instead of 404.',
    'userId === board.creator_id': 'The creator of a board cannot be removed from it (409). This holds for every caller.',
  },
  'src/resources/board-members/people.ts': {
    'isActive(records[0])': 'The list of board members shows a creator only while their membership is active.',
    'board.creator_id': 'The first entry of the list of board members is the creator.',
    'isActive(memberships[i])': 'Leaves out former members, whose board memberships are about to be removed.',
  },
  'src/resources/boards/operations.ts': {
    'current.visibility === visibility': 'Setting the visibility that the board already has changes nothing.',
  },
  'src/resources/cards/additions.ts': {
    'membership && { user: { membership, boardMember: tx.known(keys.boardMember(board.id, userId)) } }':
      'A person who is absent is answered in their turn with 404, like one whom the policy denies.',
  },
  'src/resources/cards/named.ts': {
    'isActive(tx.known(key))': 'A filter by a user who is no member of the workspace is refused as a filter. It shows nothing of the user.',
  },
  'src/resources/cards/search-sources.ts': {
    'onlyId(assignee_id) === caller.userId': 'Chooses the index that has the cards. The policy decides about each of them.',
  },
  'src/resources/changes/feed.ts': {
    'isActive(membership)': 'how a change of a board member is shown: former members are left out, as in the list of members',
    'membership.user_id === board.creator_id': 'the member `creator` of a board member',
  },
  'src/resources/files/operations.ts': {
    'rest.owner_id === caller.userId':
      'The file was found readable. It chooses whether its home board is shown: the owner knows the board that they uploaded it to.',
  },
  'src/resources/notices/causes.ts': {
    'tx.known(keys.comment(answers))?.author_id': TOLD,
    'tx.known(keys.webhook(id))?.creator_id': TOLD,
  },
  'src/resources/notices/present.ts': {
    'isActive(membership)': 'Who has left is not named, as in the list of members, which everybody in the workspace may read.',
  },
  'src/resources/notices/recipients.ts': {
    'actor_id === userId': 'Nobody is told of what they do themselves.',
    'board!.creator_id': TOLD,
    'card!.creator_id': TOLD,
    creator_id: TOLD,
    'membership !== undefined': TOLD,
    'of.has(creator_id)': TOLD,
    'of.has(userId)': TOLD,
    'readers.of.get(userId)': TOLD,
    'told.has(userId)': 'A person is told once.',
    'userId !== by.actor_id': 'Nobody is told of what only their agent has to do with.',
  },
  'src/resources/pending-removals.ts': {
    "visibility === 'private'":
      'A private file of a former member counts as one of its board. The policy decides on the visibility that results.',
    'pendingRemovalOfMember(removals, owner_id)': PENDING,
    'MARKS[visibility]': 'The ETag of an attachment covers the visibility that it shows.',
    'removal.user_id === userId': PENDING,
    'removal.user_ids.includes(userId)': PENDING,
  },
  'src/resources/removals.ts': {
    'next.user_ids.includes(userId)': PENDING,
  },
  'src/resources/targets.ts': {
    'isActive(membership)': 'A board membership ends with the membership. The record may exist until it is removed.',
  },
  'src/store/indexes.ts': {
    author_id: 'A part of the entry of a comment.',
  },
  'src/store/indexing.ts': {
    'isActive(member)': 'The member directory lists active members.',
    "board.visibility === 'workspace'": 'Index entries give candidates. The policy filters what is read through them.',
    "file.visibility === 'private'": 'The index has the files that the end of a membership changes.',
  },
  'src/web/audit-page.ts': {
    'stated.subjectId !== userId': 'It leaves the person out of an entry that is about themselves.',
  },
  'src/web/activity/entries-view.ts': {
    'user_id !== reader': 'An entry about what others did is shown without their address.',
  },
  'src/web/workspace/member-list.ts': {
    "role !== 'owner'": LAST_OWNER,
    "one.role === 'owner'": LAST_OWNER,
    'one.user_id !== user_id': LAST_OWNER,
    'memberships.some(isActive)': 'Whether somebody else than this workspace trusts the person: then a link is shown to nobody.',
    'isActive(membership)': 'A former member is no longer in the list. What may be done to a member is decided by the policy.',
  },
  'src/web/workspace/member-forms.ts': {
    'member.role === given': 'There is nothing to change.',
    'roleField(member.role)': 'The choice begins with the present role.',
    'member.user_id === person.user_id': 'The words of the form.',
    'member.user_id === session.user_id':
      'It leaves out who revoked a token where its own person did, and the page that they may not open any more.',
  },
  'src/web/workspace/members-page.ts': {
    'user_id === self': 'It marks the person in the list.',
  },
  'src/web/workspace/invite.ts': {
    'isActive(present)': 'Nobody is invited twice.',
    'addMemberIn(tx, web, user, role)': 'It stores the role that the policy has allowed to give.',
    'parsed.data.role': 'It becomes the fact given.role.',
    "refusal?.errors?.['role']?.[0]": 'The message about the field.',
  },
  'src/web/agents/read.ts': {
    "this.#seen(question.token_id, question.token_name ?? 'A token', question.author_id, question.created_at)":
      'It names who asks. The policy has decided about each card and its comments.',
  },
  'src/web/operations/conflict.ts': {
    'change.actor_id === reader.context.session.user_id': WORD,
  },
  'src/web/boards/editing.ts': {
    'userId !== session.user_id': 'Nobody is told of their own editing.',
  },
  'src/web/boards/board-changes.ts': {
    'actor_id === userId': 'What the person has done on their own page is not announced to them.',
    'isActive(member)': 'Who has left is not named, as in the list of members, which everybody in the workspace may read.',
  },
  'src/web/boards/board-lists.ts': {
    'known.has(user_id)': 'Who is on the list already is not offered once more. The policy decides who may be added.',
    "board.visibility === 'private'": 'Says in words what the visibility of a board means. The board was read by an operation.',
  },
  'src/web/boards/board-page.ts': {
    "board.visibility === 'private'": WORD,
  },
  'src/web/boards/card-attachments.ts': {
    "visibility === 'private'": 'The attachment was found readable. It chooses a word that the page shows.',
  },
  'src/web/boards/card-comments.ts': {
    'nameOf(author_id)': WORD,
    'comment.author_id === controls.context.session.user_id':
      'Whoever answers with a comment of their own says it again; the comment of somebody else is quoted. Who may answer is decided by the permission table.',
  },
  'src/web/import/form.ts': {
    "['private', 'Only its members']":
      'The words of a choice. An operation sets the visibility, and the permission table decides about it.',
  },
  'src/web/import/report-view.ts': {
    "visibility === 'workspace'": 'Says in words what the visibility of the imported board means to its creator.',
  },
  'src/web/boards/questions.ts': {
    'assignee_ids.includes(userId)':
      'A question waits for whom the card is assigned to. Who may answer it is decided by the permission table.',
  },
  'src/web/boards/card-choices.ts': {
    'card.assignee_ids.includes(user_id)': 'What is chosen already can be taken back. The permission table decides about both.',
    'user_id === userId': 'The person comes first in the list.',
  },
  'src/web/boards/card-data.ts': {
    'author_id === userId': 'It chooses a comment of each kind that the policy tells apart, and which of its answers is about a comment.',
  },
  'src/web/boards/card-facts.ts': {
    'assignee_ids.includes(user_id)': 'Who is assigned already is not offered again. The assignment is decided by the permission table.',
    'people.nameOf(card.creator_id)': DISPLAY_NAME,
  },
  'src/web/boards/filters.ts': {
    'user_id === one': 'A filter by a person who is not in the workspace any more filters nothing. The policy decides about each card.',
  },
  'src/web/boards/history.ts': {
    'user_id === actor_id': 'The entry of the audit trail describes the change: the same request, by the same author. Nobody is asked for.',
  },
  'src/web/boards/overview-page.ts': {
    "visibility === 'private'": WORD,
  },
  'src/web/boards/people-page.ts': {
    'user_id !== reader.context.session.user_id': 'Nobody is told of what they do themselves, so nobody is offered to mention themselves.',
  },
  'src/web/boards/people.ts': {
    'names.get(userId)': DISPLAY_NAME,
    'people.memberName(author_id)': DISPLAY_NAME,
    'renderNamed(author_id, people)': DISPLAY_NAME,
  },
  'src/web/account/provider.ts': {
    'stored.user_id === userId': PROOF,
  },
  'src/web/reader.ts': {
    'membership.role':
      'A page is told the role that it was made for, and is fetched again when the role changes. The policy decides what it has then.',
  },
  'src/web/error-pages.ts': {
    "reason === 'admin'": 'It chooses the sentence about a token that was not issued.',
  },
  'src/web/memberships.ts': {
    'isActive(membership)': 'The web app manages tokens only: it offers the workspaces where a person can have one.',
    'token?.user_id === session.user_id': 'The web app manages tokens only: a person sees and ends their own (spec §3).',
  },
  'src/mail/notice-mails.ts': {
    'isActive(membership)': 'Who is no active member gets no mail. The policy decides about each notice, as for a session.',
  },
  'src/web/unread.ts': {
    'isActive(member)': 'It counts in the workspaces of a person, as memberships.ts lists them; the policy decides about each notice.',
  },
  'src/web/webhooks/pages.ts': {
    'people.nameOf(webhook.creator_id)': DISPLAY_NAME,
  },
  'src/web/workspace/permission.ts': {
    'membership === undefined': 'Facts are read from a membership. Without one nothing is decided: the page does not exist.',
  },
  'src/web/workspace/revoke.ts': {
    'found.token.user_id === session.user_id':
      'The permission table has decided. A token that its own user revokes is not said to be revoked by another.',
  },
  'src/web/workspace/rules.ts': {
    "scope === 'kanban:admin'": 'A rule of the workspace about new tokens, for the message of the form. Their creation checks it again.',
  },
  'src/webhooks/feed.ts': {
    creator_id: 'Whose request a delivery is decided as: the pipeline asks the policy about it.',
  },
  'src/webhooks/follower.ts': {
    'budget?.reserve(this.#workspaceId, creatorId)': 'Whose budget a delivery costs.',
    'this.#attempts.budget?.charge(this.#workspaceId, webhook.creator_id, Buffer.byteLength(body))': 'Whose budget a delivery costs.',
  },
  'src/webhooks/places.ts': {
    creatorId: 'With whom the places for deliveries are shared.',
    'workspace!.groups.delete(creatorId)': 'With whom the places for deliveries are shared.',
  },
}
