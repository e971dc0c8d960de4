/**
 * Every `SERVICE_*` variable has a second name, `CLOAKROOM_*`, for the server, the resolver and the command
 * line. The first is the documented one; where both are set and differ, neither is guessed.
 */

type Env = Record<string, string | undefined>

const NEUTRAL = 'SERVICE_'
const OWN = 'CLOAKROOM_'

/** The environment by neutral names, and the names that contradict each other. An empty variable is not set. */
export function withAliases(env: Env): { env: Env; conflicts: readonly string[] } {
  const filled: Env = { ...env }
  const conflicts: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(OWN) || !value) continue
    const neutral = NEUTRAL + name.slice(OWN.length)
    if (!env[neutral]) filled[neutral] = value
    else if (env[neutral] !== value) conflicts.push(neutral)
  }
  return { env: filled, conflicts }
}

/** The other name of a variable. */
export function aliasOf(name: string): string {
  return name.startsWith(NEUTRAL) ? OWN + name.slice(NEUTRAL.length) : name
}

/** Under which of its names a variable was given. */
export function nameUsed(env: Env, neutral: string): string {
  return env[aliasOf(neutral)] ? aliasOf(neutral) : neutral
}

/** The problem if both names are set. Contains no value. */
export function conflictLine(neutral: string): string {
  return `${neutral} and ${aliasOf(neutral)} are both set with different values: unset one of them`
}
