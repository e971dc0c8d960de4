/** The secrets of each environment of a project, by name. The server has no values. */

/** Listed even while they are empty (protocol 5.4). */
const ALWAYS = ['development', 'staging', 'production'] as const

/** Environments in the order in which they are shown: those that always exist, then the others by name. */
export function sortEnvironments(environments: readonly string[]): string[] {
  const others = new Set(environments)
  for (const name of ALWAYS) others.delete(name)
  return [...ALWAYS, ...[...others].sort()]
}

export type KeyPlaces = { key: string; environments: readonly string[] }

export function coverageOf(
  { key, environments: present }: KeyPlaces,
  environments: readonly string[],
) {
  const places = new Set(present)
  return {
    key,
    environments: Object.fromEntries(environments.map((name) => [name, places.has(name)])),
    missing: environments.filter((name) => !places.has(name)),
  }
}

export type KeyIn = { key: string; in_from: boolean; in_to: boolean }

export function diffOf(keys: readonly KeyIn[], from: string, to: string) {
  const those = (which: (key: KeyIn) => boolean) => keys.filter(which).map(({ key }) => key)
  return {
    from,
    to,
    in_from_only: those(({ in_from, in_to }) => in_from && !in_to),
    in_to_only: those(({ in_from, in_to }) => in_to && !in_from),
    in_both: those(({ in_from, in_to }) => in_from && in_to),
  }
}
