/** Prints the demo, and counts failed claims. */
import { inspect } from 'node:util'

export type Narrator = {
  /** A numbered step. */
  step(title: string): void
  /** A labelled line under the step. */
  show(label: string, what: unknown): void
  /** A claim of the demo, which must be true. */
  check(claim: string, holds: boolean): void
  /** How many claims did not hold. */
  failures(): number
}

const LABEL_WIDTH = 18

export function openNarrator(write: (text: string) => void, colour: boolean): Narrator {
  const paint = (code: number, text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  let steps = 0
  let failures = 0
  return {
    step: (title) => {
      steps += 1
      write(`\n${paint(1, `${steps}. ${title}`)}\n`)
    },
    show: (label, what) => {
      const text =
        typeof what === 'string'
          ? what
          : inspect(what, { colors: false, breakLength: 100, depth: 4 })
      const indented = text.split('\n').join(`\n   ${' '.repeat(LABEL_WIDTH)}`)
      write(`   ${paint(2, label.padEnd(LABEL_WIDTH))}${indented}\n`)
    },
    check: (claim, holds) => {
      if (!holds) failures += 1
      write(`   ${holds ? paint(32, '✓') : paint(31, '✗')} ${claim}\n`)
    },
    failures: () => failures,
  }
}
