/** Candidates in the order in which they begin. The getters read the head. */
export class Queue {
  #indices: number[] = []
  #groups: number[] = []
  #starts: number[] = []
  #head = 0

  get isEmpty(): boolean {
    return this.#head === this.#indices.length
  }

  /** Where it begins, counted in bytes of the feed's text. */
  get index(): number {
    return this.#indices[this.#head] ?? 0
  }

  get group(): number {
    return this.#groups[this.#head] ?? 0
  }

  /** Where it begins in the answer. */
  get start(): number {
    return this.#starts[this.#head] ?? 0
  }

  add(index: number, group: number, start: number): void {
    this.#indices.push(index)
    this.#groups.push(group)
    this.#starts.push(start)
  }

  /** Removes the head, at amortised constant cost. */
  shift(): void {
    this.#head++
    if (
      this.#head < this.#indices.length &&
      (this.#head < 1024 || 2 * this.#head < this.#indices.length)
    ) {
      return
    }
    this.#indices.splice(0, this.#head)
    this.#groups.splice(0, this.#head)
    this.#starts.splice(0, this.#head)
    this.#head = 0
  }

  copy(other: Queue): void {
    this.#indices = other.#indices.slice(other.#head)
    this.#groups = other.#groups.slice(other.#head)
    this.#starts = other.#starts.slice(other.#head)
    this.#head = 0
  }
}
