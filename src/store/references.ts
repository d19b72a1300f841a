/** A text that only storage knows: a member of a record that the same read has before. `memberOf` makes it. */
export class Member {
  readonly source: string | Reference<unknown>
  readonly name: string

  constructor(source: string | Reference<unknown>, name: string) {
    this.source = source
    this.name = name
  }
}

/**
 * The key of a record that other records name: some of its parts are members of them (see keys.ts). Nothing that a client sends can be one,
 * because it is an object of this class: no text is parsed for it.
 */
export class Reference<T> {
  declare readonly '~record'?: T
  readonly parts: readonly (string | Member)[]

  constructor(parts: readonly (string | Member)[]) {
    this.parts = parts
  }
}
