/** Answers that clients got, on disk before they continue, and compared with the stored data after the fault. */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

type Entry = { work: string; fact: string; value: string }

export class Ledger {
  readonly #path: string
  readonly #file: number

  constructor(path: string) {
    this.#path = path
    this.#file = openSync(path, 'a')
  }

  note(work: string, fact: string, value: string | number): void {
    writeSync(this.#file, `${JSON.stringify({ work, fact, value: String(value) })}\n`)
    fsyncSync(this.#file)
  }

  /** In the order of writing. */
  of(work: string, fact: string): string[] {
    return this.#entries().flatMap((entry) =>
      entry.work === work && entry.fact === fact ? [entry.value] : [],
    )
  }

  get size(): number {
    return this.#entries().length
  }

  close(): void {
    closeSync(this.#file)
  }

  #entries(): Entry[] {
    const lines = readFileSync(this.#path, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => JSON.parse(line))
  }
}

/** An acknowledged change is missing, is partial, or exists although it was deleted. */
export class Loss extends Error {
  override readonly name = 'Loss'
}

export function must(condition: boolean, what: () => string): asserts condition {
  if (!condition) throw new Loss(what())
}
