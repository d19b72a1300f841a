/**
 * All limits of the service. Lengths count Unicode code points. A limit that the input alone
 * exceeds is a 422 (413 for bytes); a limit that depends on stored data is a 409.
 */
export const limits = {
  /** bytes of a JSON body */
  jsonBytes: 512 * 1024,
  /** levels of nesting in a JSON body */
  jsonDepth: 16,
  /** members of all objects, and items of all lists, in a JSON body */
  jsonMembers: 10_000,
  /** bytes of an upload, the default of a setting */
  uploadBytes: 25 * 1024 * 1024,
  /** bytes of the files of a workspace, the default of a setting */
  workspaceBytes: 10 * 1024 ** 3,
  /** bytes in UTF-8 of a text that an MCP tool uploads: it is a part of a JSON body, and of the context of a model */
  attachedTextBytes: 64 * 1024,
  /** items of a page */
  pageSize: { default: 50, max: 100 },
  /** bytes of the items of a page, unless it has only one */
  pageBytes: 1024 * 1024,
  /** records that one commit of a cascade changes: then no script keeps Redis busy for long */
  batch: 100,
  /** questions about permissions in one request */
  evaluations: 100,
  /** attempts of a webhook that are kept */
  deliveriesKept: 50,
  /** boards that a person has starred: the one starred first goes when there is another one */
  starredBoards: 100,
  /** secrets of a webhook that sign beside the present one */
  oldSecrets: 4,
  /** issues in one response */
  issues: 100,
  /** operations of a batch */
  batchOperations: 100,
  /** records that a batch may write, before its last operation */
  batchRecords: 1_000,
  /** bytes that a request may leave for its Idempotency-Key, or in the decision log; each time as many again count as a further request */
  keptBytes: 8 * 1024,
  /** seconds that a long poll waits */
  longPoll: 30,
  /** characters of a bearer token, checked before anything else */
  tokenLength: 255,

  workspaceName: 100,
  displayName: 100,
  boardName: 200,
  boardDescription: 10_000,
  columnName: 200,
  cardTitle: 500,
  cardDescription: 50_000,
  externalRef: 200,
  labelName: 100,
  subtaskTitle: 500,
  commentBody: 20_000,
  /** of the reason of a failure, and of a question of an agent */
  workText: 2_000,
  /** characters of the description or the body of a deleted object that its entry in the change feed keeps */
  keptText: 500,
  fileName: 255,
  searchText: 200,
  webhookUrl: 2_000,
  /** characters of the `Authorization` header of a webhook */
  webhookAuthorization: 500,
  tokenName: 100,
  /** active tokens of a person in a workspace */
  tokensPerPerson: 100,
  email: 254,
  /** longer than the usual 8, because there is no second factor (NIST SP 800-63B §3.1.1) */
  passwordShortest: 12,
  passwordLongest: 200,
  passkeyName: 100,
  passkeysPerPerson: 10,
  recoveryCodes: 10,
  /** alerts of a person and kind that wait to be dismissed; the oldest of the kind are dropped */
  alertsOfKind: 10,

  /** notices of a person: the oldest ones are dropped */
  noticesPerPerson: 1_000,
  /** people whom one text mentions: others in it get no notice */
  mentionsPerText: 20,
  /** the last comments on a card whose authors are told of the next one */
  commentersOf: 100,

  membersPerBoard: 500,
  columnsPerBoard: 200,
  cardsPerBoard: 5_000,
  /** cards of a board of another program that is imported, archived ones included */
  cardsPerImport: 50_000,
  labelsPerBoard: 200,
  webhooksPerBoard: 10,
  /** of a person in a workspace */
  webhooksPerPerson: 100,
  webhooksPerWorkspace: 1_000,
  assigneesPerCard: 20,
  labelsPerCard: 30,
  blockersPerCard: 50,
  /** cards that one card may be a blocker of */
  blockedCards: 50,
  /** cards that wait, directly or not, for a card that gets a blocker: all are examined, because none may be that blocker */
  waitingCards: 500,
  /** the greatest limit of the active cards of a column */
  wipLimit: 1_000,
  subtasksPerCard: 200,
  commentsPerCard: 5_000,
  attachmentsPerCard: 100,
  /** claims that have not run out: what is skipped and what ends with a column is bounded */
  claimsPerBoard: 1_000,
  /** those who have released a card within a minute, and are not offered it */
  releasesPerCard: 32,
  /** changes in the feed of a board */
  changesPerBoard: 100_000,
  /** batches of the audit trail of a workspace: a folder has them in memory */
  auditBatches: 200_000,
} as const

/**
 * The rate limits in a minute. The first two are defaults of settings: requests of a token, in a workspace, and failed credentials of an
 * address.
 */
export const defaultRates = { token: 1200, workspace: 12_000, address: 300 } as const
