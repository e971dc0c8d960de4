/** Secrets: shown without their values, of which one leaves the worker when somebody asks to see it. */

import { openedValue, uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import { deleteStored, provenValues } from '../../../../client/actions/stored_secrets.ts'
import { type EnvironmentPlace, readSecret, readSecrets } from '../../../../client/environment.ts'
import { fittingMark, policyFor } from '../../../../client/secrets/final_policy.ts'
import { policyInWords } from '../../../../client/secrets/policy_in_words.ts'
import { UntrustedChain } from '../../../../client/signed/chain.ts'
import { isSensitive, type Policy } from '../../../../core/policy/policy.ts'
import { listEnvironments } from '../../../../features/projects/contract.ts'
import { failureFrom, Refused } from '../failure.ts'
import type { HeldKeys } from '../held.ts'
import { environmentAt, type Place } from '../places.ts'
import type { Progress } from '../reports.ts'

export const secretsCommands = { list, matrix, reveal, set, save, remove }

type Project = Omit<Place, 'environment'>

/** In a signed workspace all of it is verified first. @throws UntrustedChain */
async function list(held: HeldKeys, place: Place) {
  const secrets = await readSecrets(await environmentAt(held, place))
  return secrets.map(({ key, version, policy, updated_at }) => ({
    key,
    version,
    policy: (policy ?? null) as Policy | null,
    updatedAt: updated_at,
  }))
}

export type SecretCell = {
  version: number
  updatedAt: string
  policy: Policy | null
  /** What the policy narrows; empty where it narrows nothing. */
  words: string
  isSensitive: boolean
  /** Cells of one name with the same number hold the same value; null where it does not open. */
  value: number | null
}
export type SecretRow = { key: string; cells: Record<string, SecretCell> }

/** In this order, before all others. */
const USUAL = ['development', 'staging', 'production']

/**
 * All secrets of a project by environment; which values are the same is found here, and values stay here. An environment
 * that is not what members signed is named with why, and nothing of it is shown.
 */
async function matrix(held: HeldKeys, project: Project) {
  const params = { project_id: project.projectId }
  const found = await held.api.call(listEnvironments, { params })
  const names = Object.keys(found.environments)
  const others = names.filter((name) => !USUAL.includes(name)).sort()
  const environments = [...USUAL.filter((name) => names.includes(name)), ...others]
  const rows = new Map<string, SecretRow & { values: string[] }>()
  const read = await Promise.all(environments.map((name) => readAll(held, project, name)))
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

async function readAll(held: HeldKeys, project: Project, environment: string) {
  const place = await environmentAt(held, { ...project, environment })
  try {
    const secrets = await readSecrets(place, { include: 'value' })
    return { environment, fault: null, secrets: secrets.map((secret) => cellOf(place, secret)) }
  } catch (error) {
    if (error instanceof UntrustedChain)
      return { environment, fault: failureFrom(error), secrets: [] }
    throw error
  }
}

type Listed = Awaited<ReturnType<typeof readSecrets>>[number]

function cellOf(place: EnvironmentPlace, secret: Listed): Omit<SecretCell, 'value'> & Opened {
  const value = openedValue(place, secret)
  // A value opens under its own policy only: one that it does not open under is the server's word.
  const policy = value === null ? null : ((secret.policy ?? null) as Policy | null)
  return {
    key: secret.key,
    value,
    version: secret.version,
    updatedAt: secret.updated_at,
    policy,
    words: policyInWords(policy),
    isSensitive: isSensitive(policy),
  }
}

type Opened = { key: string; value: string | null }

function numberOf(values: string[], value: string | null): number | null {
  if (value === null) return null
  const known = values.indexOf(value)
  return known < 0 ? values.push(value) - 1 : known
}

/** One value, for somebody to look at. @throws Refused `unreadable_value` */
async function reveal(held: HeldKeys, { key, ...at }: Place & { key: string }) {
  const place = await environmentAt(held, at)
  const value = openedValue(place, await readSecret(place, key))
  if (value === null) throw new Refused('unreadable_value')
  return value
}

type Change = { key: string; value: string; policy?: Policy | null; expectedVersion?: number }

/** @throws Unstorable, ApiError `conflict` where another version is there by now */
async function set(held: HeldKeys, { secrets, ...at }: Place & { secrets: Change[] }) {
  const place = await environmentAt(held, at)
  const entries = secrets.map(({ key, value, policy, expectedVersion }) => ({
    key,
    value,
    policy,
    expectedVersion,
  }))
  return uploadSecrets(place, entries, true)
}

type Typed = { key: string; value: string; expectedVersion: number; isSetting: boolean }

/**
 * One value that somebody typed, under the policy that is there.
 *
 * @throws Unstorable, Unproven, ApiError `conflict` where another version is there by now
 */
async function save(held: HeldKeys, { key, value, isSetting, ...at }: Place & Typed) {
  const { expectedVersion, ...where } = at
  const place = await environmentAt(held, where)
  const before = (await provenValues(place, [key])).get(key)
  const candidate = { key, value, policy: before?.policy ?? undefined, expectedVersion }
  const choice = isSetting ? 'plain' : 'sensitive'
  const policy = policyFor({ ...candidate, policyIs: 'decided' }, choice)
  await uploadSecrets(place, [fittingMark({ ...candidate, policy })], true)
}

type Named = Place & { keys: readonly string[] }

/** Each with its earlier versions; for 7 days they can be restored. Those before one that fails are deleted. */
async function remove(
  held: HeldKeys,
  { keys, ...at }: Named,
  progress: (progress: Progress) => void,
) {
  const place = await environmentAt(held, at)
  for (const [done, key] of keys.entries()) {
    progress({ step: key, done: done / keys.length })
    try {
      await deleteStored(place, key)
    } catch (error) {
      return { removed: keys.slice(0, done), failure: failureFrom(error) }
    }
  }
  return { removed: keys, failure: null }
}
