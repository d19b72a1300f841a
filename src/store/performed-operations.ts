/** Which operation of a request wrote which record. */
export class PerformedOperations {
  readonly #request: string
  #current: string
  /** of a batch; undefined: all records are the request's */
  #byKey: Map<string, string> | undefined

  /** @param request the operation of the request */
  constructor(request: string) {
    this.#request = this.#current = request
  }

  /** Begins the next operation of a batch. */
  next(operation: string): void {
    this.#byKey ??= new Map()
    this.#current = operation
  }

  /**
   * Notes that the current operation writes a record.
   * @param isCreated whether the transaction creates it: whatever changes it later in the same commit, its entry says that it was created
   */
  note(key: string, isCreated: boolean): void {
    if (this.#byKey === undefined) return
    const before = this.#byKey.get(key)
    if (before === undefined) this.#byKey.set(key, this.#current)
    else if (before !== this.#current && !isCreated) this.#byKey.set(key, this.#request)
  }

  /** The operation that wrote a record; the batch, if several of its operations did. */
  of(key: string): string {
    return this.#byKey?.get(key) ?? this.#request
  }
}
