/**
 * The path of the page of a webhook.
 * @param base the path of its workspace
 */
export function pathOfWebhook(base: string, webhookId: string): string {
  return `${base}/webhooks/${webhookId}`
}

/**
 * The path of the page of all webhooks of a board.
 * @param base the path of its workspace
 */
export function pathOfWebhooks(base: string, boardId: string): string {
  return `${base}/boards/${boardId}/webhooks`
}
