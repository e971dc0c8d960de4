/**
 * Copies many secrets from a `.env` file or another environment. The preview lists each change by name. A secret that
 * changed after the preview is not replaced.
 */
import { type Entry, uploadSecrets } from '../../../../client/actions/set_secrets.ts'
import {
  compareEntries,
  readProvenEntries,
  readProvenValues,
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
  fitReferenceMark,
  policyFor,
} from '../../../../client/secrets/final_policy.ts'
import { isSensitive } from '../../../../core/policy/policy.ts'
import { environmentAt, type Place } from '../places.ts'
import type { UnlockedSession } from '../unlocked_session.ts'

export const transfersCommands = { preview, store, undo }

/** The text of a `.env` file, or names of another environment of the workspace. */
export type TransferSource = { text: string } | { from: Place; keys: readonly string[] }
type Transfer = { to: Place; source: TransferSource }

export type Preview = {
  /** Lines that cannot be read. With any of them, the preview has no rows. */
  problems: Dotenv['problems']
  /** Names that are repeated in the file. The last value counts. */
  repeated: string[]
  rows: { key: string; change: ValueChange; version: number; isSetting: boolean }[]
}

/** @throws Unproven for an existing secret that does not open */
async function preview(session: UnlockedSession, { to, source }: Transfer): Promise<Preview> {
  const { problems, repeated, compared, versions } = await transferOf(session, to, source)
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
 * Stores the changes of the preview whose names are in `versions`, each with the version that was shown. `stored` is for
 * {@link undo}, or null if it can't be read.
 *
 * @throws Unstorable, Unproven, ApiError `conflict`
 */
async function store(
  session: UnlockedSession,
  { to, source, versions }: Transfer & { versions: Record<string, number> },
) {
  const { compared, place } = await transferOf(session, to, source)
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
  session: UnlockedSession,
  { to, stored }: { to: Place; stored: readonly StoredVersion[] },
): Promise<Undone> {
  return undoStored(await environmentAt(session, to), stored)
}

async function transferOf(session: UnlockedSession, to: Place, source: TransferSource) {
  const place = await environmentAt(session, to)
  const { values, problems, replaced } =
    'text' in source
      ? parseDotenv(source.text.replace(/^\ufeff/, ''))
      : { values: new Map<string, string>(), problems: [], replaced: [] }
  const found =
    'text' in source
      ? null
      : await readProvenEntries(await environmentAt(session, source.from), source.keys)
  const names = found?.map(({ key }) => key) ?? [...values.keys()]
  const known = await readProvenValues(place, names)
  const entries = found ?? candidatesOf(values, known).map(classifyCandidate)
  const versions = new Map([...known].map(([key, { version }]) => [key, version]))
  return {
    place,
    problems,
    repeated: [...replaced],
    versions,
    compared: compareEntries(known, entries),
  }
}

/** A file's value under the existing policy, or under the policy of new values. */
function classifyCandidate(candidate: Candidate): Entry {
  return fitReferenceMark({ ...candidate, policy: policyFor(candidate, 'by value') })
}
