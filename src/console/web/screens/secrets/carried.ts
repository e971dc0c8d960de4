/** A value with several lines that moves from a cell to the inspector, which takes it once. */
export type Carried = {
  text: string
  /** The stored value if the text is that value, otherwise empty: an unchanged stored value is not unsaved text. */
  stored: string
}

const NOTHING: Carried = { text: '', stored: '' }

let kept: { name: string; environment: string; value: Carried } | null = null

export function carry(name: string, environment: string, value: Carried): void {
  kept = { name, environment, value }
}

/** Empty if nothing was carried to this secret. A value that was carried to another secret is dropped. */
export function takeCarried(name: string, environment: string): Carried {
  const value = kept?.name === name && kept.environment === environment ? kept.value : NOTHING
  kept = null
  return value
}
