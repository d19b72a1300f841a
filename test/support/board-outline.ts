/** Reads a path below /v1. @returns the body */
export type ReadPath = (path: string) => Promise<{ data: any }>

/**
 * Everything on a board, without what differs between two boards with the same content: ids are replaced by their order, times by
 * whether there is one.
 */
export async function outlineOf(read: ReadPath, boardId: string): Promise<unknown> {
  const list = async (path: string): Promise<any[]> => (await read(path)).data
  const cards = [
    ...(await list(`/boards/${boardId}/cards?limit=100&include=counts`)),
    ...(await list(`/boards/${boardId}/cards?limit=100&archived=true`)),
  ]
  const whole = {
    board: (await read(`/boards/${boardId}`)).data,
    columns: [...(await list(`/boards/${boardId}/columns`)), ...(await list(`/boards/${boardId}/columns?archived=true`))],
    labels: await list(`/boards/${boardId}/labels`),
    members: await list(`/boards/${boardId}/members`),
    cards,
    parts: await Promise.all(
      cards.flatMap(({ id }) => ['subtasks', 'comments', 'attachments'].map((kind) => list(`/cards/${id}/${kind}?limit=100`))),
    ),
  }
  const ids = new Map<string, string>()
  const text = JSON.stringify(whole)
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]+"/g, '"time"')
    .replaceAll(/\b([a-z]{3})_[0-9a-z]{20}\b/g, (id, kind: string) => {
      if (!ids.has(id)) ids.set(id, `${kind} ${ids.size}`)
      return ids.get(id)!
    })
  return JSON.parse(text)
}
