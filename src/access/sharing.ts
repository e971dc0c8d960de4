/** Work in progress, shared with later requests for it, so that it runs only once. */
export class Sharing {
  readonly #running = new WeakMap<object, Map<string, Promise<void>>>()

  /** `name` is the name of the work on `subject`. */
  runOnce(subject: object, name: string, work: () => Promise<void>): Promise<void> {
    const running = this.#running.get(subject) ?? new Map<string, Promise<void>>()
    this.#running.set(subject, running)
    const shared = running.get(name) ?? work().finally(() => running.delete(name))
    running.set(name, shared)
    return shared
  }
}
