/** Closed while a reader does not accept data. Its messages wait. */
export class ReaderGate {
  #shut: PromiseWithResolvers<void> | null = null

  shut(): void {
    this.#shut ??= Promise.withResolvers()
  }

  open(): void {
    this.#shut?.resolve()
    this.#shut = null
  }

  /** Resolves when it opens; `null` while it is open. */
  get opened(): Promise<void> | null {
    return this.#shut?.promise ?? null
  }
}
