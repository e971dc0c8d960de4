/**
 * Many secrets at once: from a `.env` file, or from another environment. What would change is shown by name before
 * anything is stored, and what changed since it was shown is not replaced.
 */
import { type Entry, uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import {
  comparedWith,
  provenEntries,
  provenValues,
  type ValueChange,
} from '../../../../client/actions/stored_secrets.ts'
import {
  type StoredVersion,
  type Undone,
  undoStored,
  versionsAfter,
} from '../../../../client/actions/undo_store.ts'
import { type Dotenv, parseDotenv } from '../../../../client/secrets/dotenv.ts'
import {
  type Candidate,
  candidatesOf,
  fittingMark,
  policyFor,
} from '../../../../client/secrets/final_policy.ts'
import { isSensitive } from '../../../../core/policy/policy.ts'
import type { HeldKeys } from '../held.ts'
import { environmentAt, type Place } from '../places.ts'

export const transfersCommands = { preview, store, undo }

/** The text of a `.env` file, or names of another environment of the workspace. */
export type TransferSource = { text: string } | { from: Place; keys: readonly string[] }
type Transfer = { to: Place; source: TransferSource }

export type Preview = {
  /** Lines that cannot be read: then there is nothing else. */
  problems: Dotenv['problems']
  /** Names that the file has more than once, of which the last counts. */
  repeated: string[]
  rows: { key: string; change: ValueChange; version: number; isSetting: boolean }[]
}

/** @throws Unproven for what is there already and does not open */
async function preview(held: HeldKeys, { to, source }: Transfer): Promise<Preview> {
  const { problems, repeated, compared, versions } = await transferOf(held, to, source)
  return {
    problems,
    repeated,
    rows: compared.map(({ entry: { key, policy }, change }) => ({
      key,
      change,
      version: versions.get(key) ?? 0,
      isSetting: !isSensitive(policy),
    })),
  }
}

/**
 * Stores what the preview showed: only the names that have a version here, which is the one that was shown. `stored` is
 * for {@link undo}, or null if it can't be read.
 *
 * @throws Unstorable, Unproven, ApiError `conflict`
 */
async function store(
  held: HeldKeys,
  { to, source, versions }: Transfer & { versions: Record<string, number> },
) {
  const { compared, place } = await transferOf(held, to, source)
  const entries = compared.flatMap(({ entry, change }): Entry[] => {
    const expectedVersion = versions[entry.key]
    return change === 'same' || expectedVersion === undefined ? [] : [{ ...entry, expectedVersion }]
  })
  const { created, updated } = await uploadSecrets(place, entries, true)
  const stored = await versionsAfter(place, entries).catch(() => null)
  return { created, updated, stored }
}

/** Leaves secrets that someone changed since. @throws Unproven, ApiError, UntrustedChain */
async function undo(
  held: HeldKeys,
  { to, stored }: { to: Place; stored: readonly StoredVersion[] },
): Promise<Undone> {
  return undoStored(await environmentAt(held, to), stored)
}

async function transferOf(held: HeldKeys, to: Place, source: TransferSource) {
  const place = await environmentAt(held, to)
  const { values, problems, replaced } =
    'text' in source
      ? parseDotenv(source.text.replace(/^\ufeff/, ''))
      : { values: new Map<string, string>(), problems: [], replaced: [] }
  const found =
    'text' in source
      ? null
      : await provenEntries(await environmentAt(held, source.from), source.keys)
  const names = found?.map(({ key }) => key) ?? [...values.keys()]
  const known = await provenValues(place, names)
  const entries = found ?? candidatesOf(values, known).map(classified)
  const versions = new Map([...known].map(([key, { version }]) => [key, version]))
  return {
    place,
    problems,
    repeated: [...replaced],
    versions,
    compared: comparedWith(known, entries),
  }
}

/** A value of a file under the policy that is there, or the one that a new value gets. */
function classified(candidate: Candidate): Entry {
  return fittingMark({ ...candidate, policy: policyFor(candidate, 'by value') })
}
