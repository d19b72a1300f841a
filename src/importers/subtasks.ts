/** The title of a subtask: it begins with the name of its list if its card has several. */
export function titleOfSubtask(name: string, list: string, lists: number): string {
  return lists > 1 ? `${list}: ${name}` : name
}
