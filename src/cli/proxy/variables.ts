/** The variables of a command behind the proxy: a stand-in under the name of each credential, and settings. */
import { explainUnsafeVariable } from '../../client/delivery/unsafe_variables.ts'
import type { Backend, ProxyCredential } from '../../proxy/backend.ts'
import { StandIns, unshaped, withStandIns } from '../../proxy/stand_ins/index.ts'

export type Skipped = { name: string; reason: string }

export type Drawn = {
  /** Knows the stand-ins. */
  through(backend: Backend): Backend
  /** Without those that the proxy sets itself. */
  variables(own: readonly string[]): { set: Record<string, string>; skipped: Skipped[] }
}

/** Variables for the command line itself, or for the programs that it starts. */
const OURS = /^(SERVICE|CLOAKROOM)_/i

export const NOTHING_DRAWN: Drawn = {
  through: (backend) => backend,
  variables: () => ({ set: {}, skipped: [] }),
}

export async function drawVariables(backend: Backend): Promise<Drawn> {
  const credentials = await backend.credentials()
  const standIns = await StandIns.draw(credentials.filter(({ name }) => !steers(name)))
  return {
    through: (given) => withStandIns(given, standIns),
    variables: (own) => {
      const taken = new Set(own.map((name) => name.toUpperCase()))
      const set: Record<string, string> = {}
      const skipped: Skipped[] = []
      for (const credential of credentials) {
        const { name, setting } = credential
        const text = standIns.of(name)?.text ?? setting
        const reason = reasonAgainst(credential, taken)
        if (text === null || reason !== null) skipped.push({ name, reason: reason ?? '' })
        else set[name] = text
      }
      return { set, skipped }
    },
  }
}

function reasonAgainst(
  { name, reason }: ProxyCredential,
  taken: ReadonlySet<string>,
): string | null {
  if (taken.has(name.toUpperCase()) || OURS.test(name)) return 'set by the proxy itself'
  const steered = explainUnsafeVariable(name)
  return steered === null ? reason && unshaped[reason] : `it ${steered}`
}

/** Values of unset variables stay placeholders in responses. */
function steers(name: string): boolean {
  return OURS.test(name) || explainUnsafeVariable(name) !== null
}
