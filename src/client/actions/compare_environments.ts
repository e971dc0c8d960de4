/** All secrets of a project by environment, and which values are equal. No value leaves this file. */
import { isSensitive, type Policy } from '../../core/policy/policy.ts'
import { listEnvironments } from '../../features/projects/contract.ts'
import { type EnvironmentPlace, readSecrets } from '../environment.ts'
import { policyInWords } from '../secrets/policy_in_words.ts'
import { type RenewalState, renewalOf } from '../secrets/renewal_state.ts'
import { UntrustedChain } from '../signed/chain.ts'
import type { WorkspacePlace } from '../workspace.ts'
import { openStoredValue } from './set_secrets.ts'

type SecretCell = {
  version: number
  updatedAt: string
  policy: Policy | null
  /** The restrictions of the policy in words; empty without restrictions. */
  words: string
  isSensitive: boolean
  /** Null for a secret that is not renewed. */
  renewal: RenewalState | null
  /** Cells of one name with the same number have equal values. Null for an unreadable value. */
  value: number | null
}
type SecretRow = { key: string; cells: Record<string, SecretCell> }

/** In this order, before all others. */
const USUAL = ['development', 'staging', 'production']

/** An environment that fails verification has a fault and no secrets. */
export async function compareEnvironments(place: WorkspacePlace, projectId: string) {
  const found = await place.api.call(listEnvironments, { params: { project_id: projectId } })
  const names = Object.keys(found.environments)
  const others = names.filter((name) => !USUAL.includes(name)).sort()
  const environments = [...USUAL.filter((name) => names.includes(name)), ...others]
  const rows = new Map<string, SecretRow & { values: string[] }>()
  const read = await Promise.all(
    environments.map((name) => readAll({ ...place, projectId, environment: name })),
  )
  for (const { environment, secrets } of read) {
    for (const { key, value, ...cell } of secrets) {
      const row = rows.get(key) ?? { key, cells: {}, values: [] }
      rows.set(key, row)
      row.cells[environment] = { ...cell, value: numberOf(row.values, value) }
    }
  }
  const sorted = [...rows.values()].sort((one, other) => (one.key < other.key ? -1 : 1))
  return {
    environments: read.flatMap(({ environment, fault }) => (fault === null ? environment : [])),
    faults: read.flatMap(({ environment, fault }) =>
      fault === null ? [] : { environment, fault },
    ),
    rows: sorted.map(({ key, cells }): SecretRow => ({ key, cells })),
  }
}

async function readAll(place: EnvironmentPlace) {
  const { environment } = place
  try {
    const secrets = await readSecrets(place, { include: 'value' })
    return { environment, fault: null, secrets: secrets.map((secret) => cellOf(place, secret)) }
  } catch (error) {
    if (!(error instanceof UntrustedChain)) throw error
    return { environment, fault: error, secrets: [] }
  }
}

type Listed = Awaited<ReturnType<typeof readSecrets>>[number]

function cellOf(place: EnvironmentPlace, secret: Listed): Omit<SecretCell, 'value'> & Opened {
  const value = openStoredValue(place, secret)
  // A value decrypts only with its own policy. Any other policy comes from the server.
  const policy = value === null ? null : ((secret.policy ?? null) as Policy | null)
  return {
    key: secret.key,
    value,
    version: secret.version,
    updatedAt: secret.updated_at,
    policy,
    words: policyInWords(policy),
    isSensitive: isSensitive(policy),
    renewal: renewalOf(policy, secret.derived),
  }
}

type Opened = { key: string; value: string | null }

function numberOf(values: string[], value: string | null): number | null {
  if (value === null) return null
  const known = values.indexOf(value)
  return known < 0 ? values.push(value) - 1 : known
}
