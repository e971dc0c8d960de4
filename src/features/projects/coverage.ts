/** Which secrets a project has in which environments: by name: the server knows no values. */

/** Listed even while they are empty (protocol 5.4). */
const ALWAYS = ['development', 'staging', 'production'] as const

export type SecretName = { environment: string; key: string }

/** The environments that are always there, in their order, then the others by name, empty ones too. */
export function environmentsOf(names: readonly SecretName[], made: readonly string[]): string[] {
  const others = new Set([...made, ...names.map(({ environment }) => environment)])
  for (const name of ALWAYS) others.delete(name)
  return [...ALWAYS, ...[...others].sort()]
}

export function countByEnvironment(names: readonly SecretName[], made: readonly string[]) {
  return Object.fromEntries(
    environmentsOf(names, made).map((environment) => {
      const secret_count = names.filter((name) => name.environment === environment).length
      return [environment, { secret_count }]
    }),
  )
}

export function coverageOf(names: readonly SecretName[], made: readonly string[]) {
  const environments = environmentsOf(names, made)
  const byKey = Map.groupBy(names, ({ key }) => key)
  const keys = [...byKey.keys()].sort().map((key) => {
    const present = new Set(byKey.get(key)?.map(({ environment }) => environment))
    return {
      key,
      environments: Object.fromEntries(environments.map((name) => [name, present.has(name)])),
      missing: environments.filter((name) => !present.has(name)),
    }
  })
  return { environments, keys }
}

export function diffOf(names: readonly SecretName[], from: string, to: string) {
  const keysIn = (wanted: string) =>
    new Set(names.filter(({ environment }) => environment === wanted).map(({ key }) => key))
  const [before, after] = [keysIn(from), keysIn(to)]
  return {
    from,
    to,
    in_from_only: [...before.difference(after)].sort(),
    in_to_only: [...after.difference(before)].sort(),
    in_both: [...before.intersection(after)].sort(),
  }
}
