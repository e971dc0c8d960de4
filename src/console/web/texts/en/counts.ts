/** Numbers of things, and lists of names. */
export const counter =
  (one: string, other = `${one}s`) =>
  (count: number) =>
    `${count} ${count === 1 ? one : other}`

export const secretCount = counter('secret')
/** The server counts up to a limit: `1000+ secrets`. */
export const secretsHeld = (count: number, hasMore: boolean) =>
  hasMore ? `${count}+ secrets` : secretCount(count)
export const dayCount = counter('day')
export const callCount = counter('call')

const MAX_LISTED = 10

/** The first of them. */
export function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_LISTED).join(', ')
  return names.length > MAX_LISTED ? `${shown} and ${names.length - MAX_LISTED} more` : shown
}
