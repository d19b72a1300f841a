/** What the documentation says of an operation beyond its summary, by its id. */
export const notes: Readonly<Record<string, string>> = {
  'account.read':
    'The recommended first call: it tells whom the token represents, the workspace, and the operations that it may be used for.',
  'access.evaluate':
    'In the shape of the OpenID AuthZEN Authorization API 1.0. The question is decided like the operation itself, by the same tables on the present data, and nothing is done. `subject` is always the calling token: another subject is 422. `action.name` is the id of an operation; `resource` names what its path and its body name. If the decision is false, `context.code` is the error that the operation would answer. Ask about the operations of a batch one by one. A decision does not hold for the future. An `Idempotency-Key` is ignored.',
  'access.evaluate_all':
    'As `access.evaluate`. A question that is not valid refuses the whole request. `evaluations_semantic` can stop after the first denied or permitted question, which is then the last one of the response.',
  'access.search_action':
    'The search of the OpenID AuthZEN Authorization API 1.0: each operation on a resource of this type is decided as `access.evaluate` decides it, all on one state of the data, and those that are allowed are listed. `resource.properties` can name what operations take in addition; each uses what it takes. An operation that must name more, such as `column_id` of `cards.create`, is listed with `requires` if it is allowed with some of it. The workspace has the type `workspace` and the id `me`. A resource that you have no access to has no operations, like one that does not exist. The pages are in the body, as AuthZEN has them.',
  'access.search_resource':
    'Each board that you have access to is decided as `access.evaluate` decides it. The operation must be one on a board: ask about cards and other resources with `access.evaluate_all`. `resource.properties` names what the operation takes in addition; if it must name more, such as `user_id` of `board_members.add`, a board is listed if the operation is allowed on it with some of it. After 400 boards a page ends, also with fewer results: follow `page.next_token` until it is empty. A board that is created meanwhile comes last, and no other is repeated or left out.',
  'access.search_subject':
    'Each member is decided as `access.evaluate` decides for the caller, with a token of the scope that `subject.properties.scope` states. Only owners and admins may ask. About a resource that you have no access to, nobody is found, like about one that does not exist. The decision point below `/access/v1` answers the same in the form of the OpenID AuthZEN Authorization API 1.0. After 400 members a page ends, also with fewer results: follow `page.next_token` until it is empty.',
  'members.list': 'Resolves user ids, for assignments and for the members of private boards. E-mail addresses are not part of it.',
  'notices.list':
    'They are the notices of the user of the token, whatever causes them. Each one about a board is decided like a read of that board now. A client that follows `page.next_cursor` with `order=asc` gets each notice once, in the order of the commits. The last 1,000 notices of 90 days are kept.',
  'notices.mark': 'Marking a notice again changes nothing.',
  'boards.list': 'Boards without access are left out, and pages are filled past them. Archived columns and cards do not matter here.',
  'boards.create':
    'You become its creator. To make it private, set its visibility afterwards. A repetition with the same `Idempotency-Key` is 404 when you have no access to the board any more, or it was deleted.',
  'boards.read':
    'The response then has the board with the first 100 active cards and all of its active columns, labels and members. `cards_cursor` continues with the other cards, and `changes_cursor` with later changes. With `claim`, each card says who holds it.',
  'boards.update': 'Members that are absent stay as they are. The visibility has its own operation.',
  'boards.set_visibility':
    'When a board becomes private, users who lose their access are unassigned from its cards. They are not notified.',
  'boards.delete': 'It cannot be undone. From the response on, no request finds the board or anything on it.',
  'boards.batch':
    'Each operation is decided on its own, after those before it, whose changes it sees. The first one that fails refuses the whole batch, with its own error and `index`, and nothing is changed. Operations that require `kanban:admin` are 422, and so are those after 1,000 changed records or a response of 1 MiB. For the rate limits, each operation counts as a request. `$0` in `params`, and in the members of a body that are ids, stands for the id of what the first operation has created, and so on. Each result is what its operation alone would answer: it does not have the changes of later operations, such as the removal of a label. Its `etag` is null if there are any. If-Match refers to the board.',
  'boards.changes':
    'A client that follows `page.next_cursor` gets each change once, from all processes, whatever their clocks say. `data` is the object as it is now, so a page may show a state that later changes lead to. The deletion of a card or a board includes what belongs to it. If the service no longer has the changes after a cursor, the response is 410 `cursor_expired`: read the board with `include`, and continue with its `changes_cursor`. Access is decided for each request.',
  'boards.events':
    'The events are named `change`, so that `onmessage` of an EventSource is never called: use `addEventListener("change", …)`. Each has a change as `data`, and as `id` the cursor after it, where a client that connects again continues (`Last-Event-ID`). The token and its access to the board are checked at least once a second; the stream then ends with an event `error`. A comment is sent every 15 seconds. A stream counts as a request in progress.',
  'board_members.list': 'Explicit members matter for private boards. A creator who is no member of the workspace any more is left out.',
  'board_members.add': 'A user who is no member of the workspace gets 404 with `parameter: user_id`.',
  'board_members.remove': 'If the board is private, the user loses access to it, and is unassigned from its cards.',
  'columns.create': 'If-Match refers to the board.',
  'columns.rename': 'Members that are absent stay as they are. A WIP limit may be less than the number of cards that the column has.',
  'columns.move': 'Exactly one of `before`, `after` and `to` must be given. A column that is at the place already stays unchanged.',
  'columns.archive': 'Its cards keep their state. They come back with it. Archiving an archived column changes nothing.',
  'columns.restore': 'Restoring an active column changes nothing.',
  'cards.list':
    'All filters that are given must match. A column or a label that is not on this board, and a user who is no member of the workspace, are 404 with `parameter`. A member without access to the board is assigned to none of its cards. `ready` means that the column is active, too; a blocker in an archived column still blocks. Requests with `q`, `assignee_id=none`, `ready=false` or several filters are searched one after the other for each user.',
  'cards.search':
    'All filters that are given must match. A board, a column or a label that you have no access to, and a user who is no member of the workspace, are 404 with `parameter`. It costs least with `assignee_id=me` and without `q`. What was completed costs least with `sort=completed_at`. The searches of one user are made one after the other. To follow a board, read its changes instead.',
  'cards.create':
    'Everything is created in one commit, or nothing is. A label that is not one of this board is 404 with `parameter: label_id`, a user without access to the board 404 with `parameter: user_id`, and a blocker that is no card of this board 404 with `parameter: blocker_id`. The ids of the subtasks are in the list of the subtasks of the card. If-Match refers to the board. At most one of `before`, `after` and `to` can be given. In a column that `completes`, the card is completed. An `external_ref` that another card of the board has is 409 with its `card_id`.',
  'cards.update':
    'Members that are absent stay as they are. `due_at: null` removes the due time, and `external_ref: null` the reference. A reference that another card of the board has is 409 with its `card_id`.',
  'cards.move':
    'With only a `column_id`, the card goes to the end of that column. At most one of `before`, `after` and `to` can be given; `before` and `after` name a card of the destination. If the card is there already, nothing changes. A column that has as many active cards as its WIP limit allows takes no further one: that is 409 with `limit: "wip_limit"`. Within its own column, a card can always be moved. In another column, its failed attempts are forgotten. Into a column that `completes`, from one that does not, it is completed with success, and its claim ends; the other way, it is open again. Whoever completes a card by a move needs the permission to complete it.',
  'cards.complete':
    'Setting the present state changes nothing. Another `outcome` replaces only the outcome: a completed card keeps `completed_at` and who completed it. A card that has `failed` goes on blocking others. Completion forgets that attempts have failed. Cards that it blocks may become ready with it; they do not change themselves.',
  'cards.archive': 'An archived card can be read by its id and is listed with `archived=true`. Archiving an archived card changes nothing.',
  'cards.restore': 'If its column is archived, the card is listed again when the column is restored.',
  'cards.delete': 'It cannot be undone. Archive a card instead to keep it. Files that were attached only here are removed after a day.',
  'cards.assign': 'The user must have access to the board; otherwise the response is 404 with `parameter: user_id`.',
  'cards.unassign': 'If the user is not assigned, the response is 404 with `parameter: user_id`.',
  'cards.apply_label': 'The label must be one of this board; otherwise the response is 404 with `parameter: label_id`.',
  'cards.remove_label': 'If the card does not have the label, the response is 404 with `parameter: label_id`.',
  'cards.set_cover':
    'You must have access to the file of the attachment, and to the file of the present cover if there is one. Others who can read the card get 403.',
  'cards.clear_cover': 'You must have access to the file of the present cover. Others who can read the card get 403.',
  'blockers.add':
    'Both must be cards of one board; otherwise the response is 404 with `parameter: blocker_id`. A card cannot wait for itself, directly or through others. A blocker that has succeeded or is archived stays, and blocks again when that is undone. One that has failed blocks. One in an archived column still blocks: it is not archived itself. One that is deleted disappears from the card, which has a new ETag then.',
  'blockers.remove': 'If the card does not have the blocker, the response is 404 with `parameter: blocker_id`.',
  'claims.take_next':
    'A card is ready if the state of its work is `ready`, and its column is active. With `include=work`, the response has the work so far, and the last question that was answered. The response is 201 with the card and its `claim`, or 200 with `null` if there is none after `wait` seconds. Renew the claim with PUT /cards/{card_id}/claim before it runs out, send its `epoch` as `If-Claim` with each write, and complete the card or release the claim at the end. The claim ends when the card is completed or archived, its column is archived, or the token ends. A token that is rotated hands its claims to its successor.',
  'claims.take':
    'Of a card that the calling token holds, it renews the claim: the epoch stays. With `If-Claim` it only renews, and never takes anew what was lost. A card that another token holds is 409 with `claim`. A card can be claimed although it is blocked, or waits for a time. One that is stuck, or waits for an answer, is 409 with its `work`.',
  'claims.release':
    'If nobody holds the card, nothing changes. If another token does, the response is 409 with its `claim`; `force=true` ends that claim, without counting an attempt. The calling token is not offered the card for 60 seconds after it has released it, or until the card changes; others get it at once, unless `retry_after` says otherwise.',
  'claims.fail':
    'Only the holder can do this: without `If-Claim`, it is 428, and with another epoch 412. The response is the `work` of the card. After as many attempts in a row as its column allows (`max_attempts`), the card is `stuck`, and nobody gets it from POST /boards/{board_id}/claims until PUT /cards/{card_id}/completion, a move to another column, or POST /cards/{card_id}/retry.',
  'claims.ask':
    'Only the holder can do this: without `If-Claim`, it is 428, and with another epoch 412. The question is a comment with `kind: "question"`. The card is `waiting` until POST /cards/{card_id}/answer, or until the comment is deleted.',
  'cards.answer':
    'The answer is a comment with `kind: "answer"`, and `answers` is the question. If the card has no question that waits for an answer, it is 409. If-Match refers to the card.',
  'cards.retry': 'A claim of the card goes on, and so does a question. If there is nothing to forget, nothing changes.',
  'claims.read': 'The response has no ETag: a claim runs out without a change.',
  'labels.create': 'If-Match refers to the board. Two labels may have the same name.',
  'labels.delete': 'From the response on, no card has the label any more.',
  'subtasks.create': 'If-Match refers to the card. At most one of `before`, `after` and `to` can be given.',
  'subtasks.update': 'Members that are absent stay as they are. At most one of `before`, `after` and `to` can be given.',
  'subtasks.delete': 'It cannot be undone.',
  'comments.create': 'If-Match refers to the card.',
  'comments.update': 'Only the author can do this. Others who can read the comment get 403.',
  'comments.delete': 'Only the author can do this. Others who can read the comment get 403. It cannot be undone.',
  'attachments.read': 'The bytes of the file have their own path, `/attachments/{attachment_id}/content`.',
  'attachments.download':
    'Everyone with access to the board can download it, whatever the visibility of its file. Its ETag identifies the bytes. HEAD ignores Range. A type that browsers could run something in, such as HTML, SVG or a script, is sent as `application/octet-stream`; `content_type` of the attachment has it.',
  'attachments.attach': 'Attaching a file gives everyone with access to the board access to its bytes. If-Match refers to the card.',
  'attachments.upload':
    'The home board of the file is the board of the card, and everyone with access to that has access to its bytes. The part names it: `filename*`, if there is one, before `filename`. If the part has no type, or one that says nothing (`application/octet-stream`, or `text/plain` for bytes that are no text), the bytes decide, and after them the extension. If-Match refers to the card.',
  'attachments.detach':
    'You must have access to the file. Others who can read the attachment get 403. A file that is attached to no card is removed after a day.',
  'webhooks.list': 'Everyone who may read the board may read its webhooks, so that they know where its changes are sent.',
  'webhooks.read': 'It has no ETag: it changes with each delivery.',
  'webhooks.create':
    'The URL must be `https` with a public address, unless the operator allows others; it is looked up at each delivery, and the address that was checked is the one that is connected to. `after` is a cursor of GET /boards/{board_id}/changes, such as `changes_cursor` of a snapshot. The secret is `whsec_…` of Standard Webhooks. A board has at most 10 webhooks, a person 100 in a workspace, and a workspace 1,000.',
  'webhooks.update':
    'Members that are absent stay as they are. `enabled: true` makes a webhook `active` and tries at once, from its `cursor`, or from now with `"after": "now"`. Another `url` alone is used at the next attempt. Only its creator can change it.',
  'webhooks.delete': 'A delivery that is under way ends by itself. Nothing is sent afterwards.',
  'webhooks.rotate_secret': 'For 24 hours each delivery has a signature with each of the two secrets.',
  'webhooks.test':
    'It takes as long as the receiver, 10 seconds at most. What a receiver answers is in `status` of a response that is 200 itself. A test changes neither the state nor the cursor. A repetition of a request without an Idempotency-Key is another test.',
  'webhooks.deliveries': 'The last 50 attempts, tests included. Each attempt at the same changes has the same `id`.',
  'files.read': 'Without access to the file, the response is 404. Its attachments stay readable on their boards.',
  'files.update':
    'Only the owner of the file can do this. Its attachments show the visibility, so their ETags change, and the feeds of their boards tell of it.',
}
