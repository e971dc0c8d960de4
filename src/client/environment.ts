/**
 * The secrets of an environment, read and written. In a signed workspace, only secrets in the manifest are used, and
 * each write includes a new manifest. After a concurrent write, the second writer reads and signs again.
 */
import { getSecret, listSecrets } from '../features/secrets/contract.ts'
import { type Chain, manifestRoot, Refusal, type Rows, type SignedText } from '../sigchain/index.ts'
import { type Api, ApiError, type CallInput, type CallResult } from './http/api.ts'
import { type Chains, UntrustedChain } from './signed/chain.ts'
import { manifestRows, type StoredRows, verifyStored } from './signed/manifests.ts'
import { type Place, signManifest } from './signed/statements.ts'
import type { OpenWorkspace } from './workspace.ts'

export type EnvironmentPlace = Place & { api: Api; workspace: OpenWorkspace }

export type SecretsReading = Omit<
  NonNullable<CallInput<typeof listSecrets>['query']>,
  'environment'
>
type Secrets = CallResult<typeof listSecrets>

/** A write may meet others, and a chain and a list that are read one after the other may differ. */
const MOST_TRIES = 5
const MOST_READS = 3
/** Secrets that are fetched one by one; all of the environment at once where there are more. */
const MAX_SINGLE = 10

/** All secrets, with their ciphertexts where they are included. @throws ApiError, UntrustedChain */
export async function readSecrets(
  place: EnvironmentPlace,
  reading: SecretsReading = {},
): Promise<Secrets> {
  return (await readWholeEnvironment(place, reading)).secrets
}

/** The secrets with the verified state, null in a plain workspace. */
export async function readWholeEnvironment(
  place: EnvironmentPlace,
  reading: SecretsReading,
): Promise<{ secrets: Secrets; stored: StoredRows | null }> {
  const { chains } = place.workspace
  if (chains) return readSigned(place, chains, reading)
  return { secrets: await place.api.list(listSecrets, secretsInput(place, reading)), stored: null }
}

/** A verified or written state is the oldest accepted one from then on. */
export function rememberStored(place: EnvironmentPlace, stored: StoredRows): void {
  const { chains } = place.workspace
  if (!chains) return
  chains.rememberManifest(formatPlaceName(place), stored)
  const ofSession = newest.get(chains) ?? new Map<string, StoredRows>()
  newest.set(chains, ofSession.set(nameOf(place), stored))
}

/** The last verified or written state of each session, so that a following write need not read it again. */
const newest = new WeakMap<Chains, Map<string, StoredRows>>()

function nameOf(place: EnvironmentPlace): string {
  return JSON.stringify(formatPlaceName(place))
}

function formatPlaceName({ workspace: { id }, projectId, environment }: EnvironmentPlace) {
  return { workspaceId: id, projectId, environment }
}

/** The query of a list of secrets. */
export function secretsInput({ projectId, environment }: Place, reading: SecretsReading) {
  return { params: { project_id: projectId }, query: { environment, ...reading } }
}

function readSigned(
  place: EnvironmentPlace,
  chains: Chains,
  reading: SecretsReading = {},
): Promise<{ secrets: Secrets; stored: StoredRows }> {
  const { api, workspace } = place
  return readVerified(workspace, async (isFirst) => {
    const seen = chains.manifestOf(formatPlaceName(place))
    const [{ data: secrets, beside }, chain] = await Promise.all([
      api.whole(listSecrets, secretsInput(place, reading)),
      isFirst ? chains.of(workspace) : chains.readNewerLinks(workspace),
    ])
    const stored = await verifyStored(
      chain,
      { ...place, seen },
      await manifestRows(secrets),
      beside.manifest,
    )
    if (stored.revision > 0) rememberStored(place, stored)
    return { secrets, stored }
  })
}

/** Data that is read in several steps may change between them: it is read again. @throws UntrustedChain */
async function readVerified<T>(
  workspace: OpenWorkspace,
  readAll: (isFirst: boolean) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await readAll(tries === 1)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (tries === MOST_READS) throw new UntrustedChain(workspace, error.message, error)
    }
  }
}

/**
 * The stored secrets with these names and their ciphertexts: one by one if there are few.
 *
 * @throws ApiError, UntrustedChain
 */
export async function readNamed(
  place: EnvironmentPlace,
  names: ReadonlySet<string>,
): Promise<Secrets> {
  return readVerified(place.workspace, async () => {
    const listed = (await readSecrets(place)).filter(({ key }) => names.has(key))
    if (listed.length > MAX_SINGLE) {
      return (await readSecrets(place, { include: 'value' })).filter(({ key }) => names.has(key))
    }
    const found = await Promise.all(listed.map(({ key }) => readOne(place, key)))
    if (place.workspace.chains) await requireListed(found, listed)
    return found
  })
}

/** @throws UntrustedChain, ApiError `not_found` */
export async function readSecret(place: EnvironmentPlace, key: string): Promise<Secrets[number]> {
  if (!place.workspace.chains) return readOne(place, key)
  const [found] = await readNamed(place, new Set([key]))
  if (found) return found
  throw new ApiError(404, { error_code: 'not_found' })
}

function readOne({ api, projectId, environment }: EnvironmentPlace, key: string) {
  return api.call(getSecret, { params: { project_id: projectId, key }, query: { environment } })
}

/** Each came with the value, and under the name, that the verified list has. @throws Refusal */
async function requireListed(found: Secrets, listed: Secrets): Promise<void> {
  const [got, known] = await Promise.all([manifestRows(found), manifestRows(listed)])
  if ((await manifestRoot(got)) !== (await manifestRoot(known))) throw new Refusal('root')
}

/** The stored state after a write, from the state before it. */
type Edit = (rows: Rows) => Rows | Promise<Rows>
type Send<T> = (manifest: SignedText | undefined) => Promise<T>

export function storeRows(secrets: Parameters<typeof manifestRows>[0]): Edit {
  return async (rows) => new Map([...rows, ...(await manifestRows(secrets))])
}

export function removeRows(names: readonly string[]): Edit {
  return (rows) => new Map([...rows].filter(([name]) => !names.includes(name)))
}

export const emptyRows: Edit = () => new Map()

/** The stored state is read before the first write of a session, and again after writes by others. */
export function openWriter(place: EnvironmentPlace) {
  return async <T>(edit: Edit, send: Send<T>): Promise<T> => {
    const { chains } = place.workspace
    if (!chains) return send(undefined)
    const last = newest.get(chains)?.get(nameOf(place))
    let before: StoredRows = last ?? (await readSigned(place, chains)).stored
    for (let tries = 1; ; tries += 1) {
      const { next, manifest } = await signNext(place, before, edit)
      const sent = await unlessConflict(send(manifest))
      if (!('conflict' in sent)) {
        rememberStored(place, next)
        return sent.result
      }
      const now = (await readSigned(place, chains)).stored
      // Otherwise it is a conflict with something else than another manifest.
      const isLater = now.revision > before.revision
      if (!isLater || tries === MOST_TRIES) throw sent.conflict
      before = now
    }
  }
}

async function signNext(place: EnvironmentPlace, before: StoredRows, edit: Edit) {
  const signer = await place.workspace.signer('secret.write')
  if (signer === null) throw new TypeError('the workspace is not signed')
  const next = await signNextRows(before, edit, signer.chain)
  return { next, manifest: await signManifest(signer, place, next) }
}

async function unlessConflict<T>(
  sent: Promise<T>,
): Promise<{ result: T } | { conflict: ApiError }> {
  try {
    return { result: await sent }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'conflict') return { conflict: error }
    throw error
  }
}

/** The state after a write, signed on a chain. */
export async function signNextRows(
  { revision, rows: before }: StoredRows,
  edit: Edit,
  { seq: headSeq }: Chain,
): Promise<StoredRows> {
  const rows = await edit(before)
  return { revision: revision + 1, rows, root: await manifestRoot(rows), headSeq }
}
