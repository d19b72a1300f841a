/** What takes a place: a delivery of a person's webhook, in a workspace, to a receiver. */
export interface Place {
  readonly workspaceId: string
  readonly creatorId: string
  /** the host that it goes to */
  readonly receiver: string
}

/**
 * How many deliveries are under way at once: in all, of a workspace, and of a person. The last ones of each are for those who have none
 * under way: the last five for workspaces, the last one of a workspace for people, and the last one of a person for receivers. So whoever
 * hangs leaves room for others.
 */
const LEVELS = [
  { most: 50, lastOnes: 5 },
  { most: 5, lastOnes: 1 },
  { most: 4, lastOnes: 1 },
] as const

/** Which deliveries share places: all, a workspace's, a person's in it, and a person's to one receiver. */
class Group {
  underWay = 0
  /** in the order in which their members were served last */
  readonly groups = new Map<string, Group>()
  /** of a receiver: what is called when there is a place */
  readonly waiting: (() => void)[] = []

  get isIdle(): boolean {
    return this.underWay === 0 && this.waiting.length === 0 && this.groups.size === 0
  }
}

/** Shares the places for deliveries: between workspaces, then between people, then between the receivers of one person. */
export class Places {
  readonly #all = new Group()

  /** @returns a promise of a place; undefined if it was free */
  take(place: Place): Promise<void> | undefined {
    const path = this.#pathOf(place)
    if (isFree(path)) {
      for (const group of path) group.underWay++
      return undefined
    }
    return new Promise((resolve) => path.at(-1)!.waiting.push(resolve))
  }

  /** Gives the place to the next one: of those that wait, who has the fewest under way, in each group. */
  release(place: Place): void {
    const path = this.#pathOf(place)
    for (const group of path) group.underWay--
    for (let next = nextOf([this.#all]); next !== undefined; next = nextOf([this.#all])) {
      for (const group of next) group.underWay++
      next.at(-1)!.waiting.shift()!()
    }
    this.#removeIdle(place, path)
  }

  /** The groups of a place, from the greatest to the smallest. */
  #pathOf({ workspaceId, creatorId, receiver }: Place): Group[] {
    const path = [this.#all]
    for (const name of [workspaceId, creatorId, receiver]) {
      const { groups } = path.at(-1)!
      const group = groups.get(name) ?? new Group()
      groups.set(name, group)
      path.push(group)
    }
    return path
  }

  #removeIdle({ workspaceId, creatorId, receiver }: Place, [all, workspace, person, last]: Group[]): void {
    if (last!.isIdle) person!.groups.delete(receiver)
    if (person!.isIdle) workspace!.groups.delete(creatorId)
    if (workspace!.isIdle) all!.groups.delete(workspaceId)
  }
}

/**
 * Whether one more may be under way in a group of groups.
 * @param level of the group
 */
function mayTake(level: number, group: Group, member: Group): boolean {
  const { most, lastOnes } = LEVELS[level]!
  return group.underWay < (member.underWay === 0 ? most : most - lastOnes)
}

function isFree(path: readonly Group[]): boolean {
  return path.every((group, level) => level === LEVELS.length || mayTake(level, group, path[level + 1]!))
}

/**
 * Finds who is next below a group: who has the fewest under way, and was served longest ago.
 * @param path to the group
 * @returns the path to the receiver; undefined if nobody who waits may take a place
 */
function nextOf(path: readonly Group[]): readonly Group[] | undefined {
  const group = path.at(-1)!
  const level = path.length - 1
  if (level === LEVELS.length) return group.waiting.length > 0 ? path : undefined
  const members = [...group.groups].filter(([, member]) => mayTake(level, group, member))
  for (const [name, member] of members.toSorted(([, one], [, other]) => one.underWay - other.underWay)) {
    const found = nextOf([...path, member])
    if (found === undefined) continue
    group.groups.delete(name)
    group.groups.set(name, member)
    return found
  }
  return undefined
}
