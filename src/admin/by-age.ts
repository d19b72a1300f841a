/** Oldest first, as people look for what they made. */
export function byAge<T extends { readonly created_at: string }>(records: readonly T[]): T[] {
  return records.toSorted((a, b) => (a.created_at < b.created_at ? -1 : Number(a.created_at > b.created_at)))
}
