/** Durations in words. */
const units = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
] as const

/** A duration in its largest whole unit. */
export function formatExactLength(seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds % size === 0) ?? [1, 'second']
  return formatUnit(seconds / size, unit)
}

/** A duration in its largest unit, rounded up. */
export function lengthOf(seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds >= size) ?? [1, 'second']
  return formatUnit(Math.ceil(seconds / size), unit)
}

/** A duration in its largest unit, rounded down: what is certainly left. */
export function lengthLeft(seconds: number): string {
  const [size, unit] = units.find(([size]) => seconds >= size) ?? [1, 'second']
  return formatUnit(Math.floor(seconds / size), unit)
}

function formatUnit(count: number, unit: string): string {
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`
}
