/**
 * The keystroke-level model (Card, Moran and Newell): how long a practised person takes for a path through the page, and
 * with how many clicks. The path is carried out in the browser, so a missing control fails.
 */
import type { Locator, Page } from 'playwright-core'

/** Seconds for each operator. */
const OPERATORS = {
  /** One key of a practised typist. */
  K: 0.2,
  /** Points with the mouse. */
  P: 1.1,
  /** Moves a hand between keyboard and mouse. */
  H: 0.4,
  /** Decides what to do next. */
  M: 1.35,
  /** Presses or releases the mouse button. */
  B: 0.1,
} as const

type Operator = keyof typeof OPERATORS
type Hand = 'mouse' | 'keyboard'

export type Cost = { clicks: number; keys: number; seconds: number; operators: string }

export class Path {
  readonly #page: Page
  #operators: Operator[] = []
  #hand: Hand = 'mouse'
  #clicks = 0
  #keys = 0

  constructor(page: Page) {
    this.#page = page
  }

  /** Decides on the next step, such as which control to use. */
  think(): void {
    this.#operators.push('M')
  }

  /** Points at a control and clicks it. */
  async click(control: Locator): Promise<void> {
    this.#point()
    await control.click()
  }

  /** Types into what has the focus. */
  async type(text: string): Promise<void> {
    this.#pressKeys(text.length)
    await this.#page.keyboard.type(text)
  }

  /** Presses keys one after the other; a chord such as `Control+V` counts each of its keys. */
  async press(...chords: string[]): Promise<void> {
    for (const chord of chords) {
      this.#pressKeys(chord.split('+').length)
      await this.#page.keyboard.press(chord)
    }
  }

  /** Pastes a text that is in the person's clipboard already. */
  async paste(text: string): Promise<void> {
    this.#pressKeys(2)
    await this.#page.keyboard.insertText(text)
  }

  /** Acts in another program, such as a terminal. @param steps `click`, or a chord */
  actElsewhere(...steps: string[]): void {
    for (const step of steps)
      if (step === 'click') this.#point()
      else this.#pressKeys(step.split('+').length)
  }

  cost(): Cost {
    const seconds = this.#operators.reduce((sum, each) => sum + OPERATORS[each], 0)
    return {
      clicks: this.#clicks,
      keys: this.#keys,
      seconds: Math.round(seconds * 10) / 10,
      operators: this.#operators.join(''),
    }
  }

  #point(): void {
    this.#moveHandTo('mouse')
    this.#operators.push('P', 'B', 'B')
    this.#clicks += 1
  }

  #pressKeys(count: number): void {
    this.#moveHandTo('keyboard')
    this.#keys += count
    for (let key = 0; key < count; key += 1) this.#operators.push('K')
  }

  #moveHandTo(hand: Hand): void {
    if (this.#hand !== hand) this.#operators.push('H')
    this.#hand = hand
  }
}
