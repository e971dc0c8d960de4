/** A value with several lines, on its way from a cell to the inspector: kept until it is taken, once. */
let carried: { name: string; environment: string; text: string } | null = null

export function carry(name: string, environment: string, text: string): void {
  carried = { name, environment, text }
}

/** Empty if nothing was carried to this secret. A value that was carried elsewhere is forgotten. */
export function taken(name: string, environment: string): string {
  const found = carried?.name === name && carried.environment === environment ? carried.text : ''
  carried = null
  return found
}
