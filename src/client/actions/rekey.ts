/**
 * A new workspace key: everything sealed with the old one is decrypted and sealed again on the client. Former members
 * may have copied earlier values, but cannot read later ones. In a signed workspace, the members' keys come from the
 * chain, and only tokens with a valid grant are carried over.
 */

import { fromBase64 } from '../../core/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../core/crypto/envelope.ts'
import { keyCommitment } from '../../core/crypto/key_commitment.ts'
import type { Policy } from '../../core/policy/policy.ts'
import { listEnvironments, listProjects } from '../../features/projects/contract.ts'
import { listDeletedSecrets, listSecrets } from '../../features/secrets/contract.ts'
import { listMembers, rekeyWorkspace as rekeyEndpoint } from '../../features/workspaces/contract.ts'
import { type Chain, extend, type ShownKeys, type SignedText } from '../../sigchain/index.ts'
import { readWholeEnvironment, rememberStored, signNextRows, storeRows } from '../environment.ts'
import { type Api, ApiError } from '../http/api.ts'
import { type LeftToken, nameKeyOwner, type Regranting, tokensFor } from '../signed/rekey_tokens.ts'
import type { LinkText } from '../signed/sign_change.ts'
import { type Place, signManifest } from '../signed/statements.ts'
import { openSecret, sealSecret } from '../vault.ts'
import type { OpenWorkspace, WorkspacePlace } from '../workspace.ts'
import type { WorkspaceKey } from '../workspace_key.ts'
import { sendWithStates, stateKeysOf } from './rekey_states.ts'

type Member = ShownKeys & { user_id: string; email: string }

export type Rekeyed = {
  next: OpenWorkspace
  members: number
  tokens: number
  secrets: number
  /** Tokens without a verified grant, which are now unusable. */
  left: LeftToken[]
}

/**
 * Rekeys a workspace. In a plain workspace, `approve` confirms each member's public key first. `sealed` receives the
 * progress, from 0 to 1.
 *
 * @throws ApiError `epoch_conflict` when another member did it first, Error when a secret does not open
 */
export async function renewWorkspaceKey(
  { api, workspace }: WorkspacePlace,
  approve: (members: readonly Member[]) => Promise<void>,
  sealed: (done: number) => void = () => {},
): Promise<Rekeyed> {
  const next: OpenWorkspace = {
    ...workspace,
    epoch: workspace.epoch + 1,
    key: crypto.getRandomValues(new Uint8Array(32)),
  }
  const change = { api, workspace, next, sealed }
  const judge = (chain: Chain) => buildRekeyLink(chain, next)
  return workspace.change(judge, async (link, chain) => {
    if (chain) return replace(change, [...chain.members.values()], await signOnLink(change, link))
    const members = await api.list(listMembers, { params: { workspace_id: workspace.id } })
    await approve(members)
    return replace(change, members, null)
  })
}

/** The form in which the server names missing manifests. */
const MISSING = /^manifests\.(?<projectId>[0-9a-f-]{36})\.(?<environment>.+)$/

type Change = {
  api: Api
  workspace: OpenWorkspace
  next: OpenWorkspace
  sealed(done: number): void
}
type Signed = Regranting & { link: SignedText }

async function replace(
  change: Change,
  members: readonly Member[],
  signed: Signed | null,
): Promise<Rekeyed> {
  const { api, workspace, next } = change
  const projects = await api.list(listProjects, { query: { workspace_id: workspace.id } })
  const [envelopes, { tokens, left }, environments] = await Promise.all([
    Promise.all(members.map((member) => sealFor(member, next))),
    tokensFor(api, next, projects, signed),
    environmentsOf(change, projects, signed),
  ])
  const secrets = environments.flatMap((environment) => environment.secrets)
  const sealed = { epoch: next.epoch, members: envelopes, tokens, secrets }
  const stateKeys = environments.flatMap((environment) => environment.stateKeys)
  const send = async () => {
    const manifests = environments.flatMap(({ manifest }) => manifest ?? [])
    const body = signed === null ? sealed : { ...sealed, link: signed.link, manifests }
    await sendWithStates(api, stateKeys, (derived) =>
      api.call(rekeyEndpoint, {
        params: { workspace_id: workspace.id },
        body: { ...body, ...derived },
      }),
    )
  }
  await sendWith(send, async (places) => {
    const sealed = await Promise.all(places.map((place) => sealAnew(change, place, signed)))
    environments.push(...sealed)
  })
  for (const { remember } of environments) remember()
  const counts = { members: members.length, tokens: tokens.length, secrets: secrets.length }
  return { next, ...counts, left }
}

/**
 * Unlisted empty environments also have manifests. The server names the missing ones, some at a time. A repeated name
 * is an error.
 */
async function sendWith(
  send: () => Promise<void>,
  add: (places: Place[]) => Promise<void>,
): Promise<void> {
  const known = new Set<string>()
  for (;;) {
    try {
      return await send()
    } catch (error) {
      const named = readEmptiedPlaces(error).filter(([path]) => !known.has(path))
      if (named.length === 0) throw error
      for (const [path] of named) known.add(path)
      await add(named.map(([, place]) => place))
    }
  }
}

function readEmptiedPlaces(error: unknown): [path: string, Place][] {
  if (!(error instanceof ApiError) || error.code !== 'link_required') return []
  return error.fields.flatMap(({ path }) => {
    const { projectId, environment } = MISSING.exec(path)?.groups ?? {}
    const place = { projectId: projectId ?? '', environment: environment ?? '' }
    return projectId && environment ? [[path, place] satisfies [string, Place]] : []
  })
}

/** @throws ApiError if another member did it first */
function buildRekeyLink({ epoch }: Chain, next: OpenWorkspace): LinkText {
  if (epoch + 1 !== next.epoch) throw new ApiError(409, { error_code: 'epoch_conflict' })
  const key_commitment = keyCommitment(next.id, next.epoch, next.key)
  return { type: 'epoch.advanced', body: { epoch: next.epoch, key_commitment } }
}

/** The statements of a rekey refer to its own link. */
async function signOnLink({ workspace }: Change, link: SignedText | undefined): Promise<Signed> {
  const signer = await workspace.signer()
  if (!link || !signer) throw new Error('a rekey of a signed workspace has a link')
  const { chain: before } = signer
  return { link, before, signer: { ...signer, chain: await extend(before, [link]) } }
}

async function sealFor(member: Member, { id, epoch, key }: WorkspaceKey) {
  const recipientPublicKey = fromBase64(member.public_key)
  if (!recipientPublicKey) throw new Error(`the public key of ${member.email} is not base64`)
  const place = { workspaceId: id, recipientPublicKey, epoch }
  const sealed = await nameKeyOwner(member.email, () => sealMemberEnvelope(place, key))
  return { user_id: member.user_id, encrypted_workspace_key: sealed }
}

async function environmentsOf(
  change: Change,
  projects: readonly { id: string }[],
  signed: Signed | null,
) {
  const perProject = projects.map(async ({ id }) => {
    const { environments } = await change.api.call(listEnvironments, { params: { project_id: id } })
    // An empty one may have a manifest.
    const filled = Object.entries(environments).filter(
      ([, { secret_count }]) => secret_count > 0 || signed !== null,
    )
    return filled.map(([environment]) => ({ projectId: id, environment }))
  })
  const places = (await Promise.all(perProject)).flat()
  let done = 0
  return Promise.all(
    places.map(async (place) => {
      const sealed = await sealAnew(change, place, signed)
      done += 1
      change.sealed(done / places.length)
      return sealed
    }),
  )
}

/** Seals all secrets of an environment with the new key, with a manifest in a signed workspace. */
async function sealAnew({ api, workspace, next }: Change, place: Place, signed: Signed | null) {
  const at = { ...place, api, workspace }
  const { secrets: held, stored } = await readWholeEnvironment(at, { include: 'value' })
  const resealed = held.map((secret) => resealSecret(workspace, next, place, secret))
  const secrets = resealed.map(({ secret }) => secret)
  const stateKeys = resealed.map((each) => each.stateKeys)
  if (signed === null || stored === null || stored.revision === 0) {
    return { secrets, stateKeys, manifest: null, remember: () => {} }
  }
  const after = await signNextRows(stored, storeRows(secrets), signed.signer.chain)
  const manifest = await signManifest(signed.signer, place, after)
  return { secrets, stateKeys, manifest, remember: () => rememberStored(at, after) }
}

type Held = { key: string; value?: string | undefined; policy?: unknown }

function resealSecret(
  before: OpenWorkspace,
  next: OpenWorkspace,
  { projectId, environment }: Place,
  { key, value: ciphertext = '', policy }: Held,
) {
  const place = { projectId, environment, key }
  const bound = (policy ?? null) as Policy | null
  const opened = openSecret(before, place, bound, ciphertext)
  if (!opened) {
    throw new Error(
      `${environment}/${key} cannot be decrypted with the current key; nothing was changed`,
    )
  }
  const value = sealSecret(next, place, bound, opened.reveal())
  return {
    secret: { project_id: projectId, environment, key, value, policy: bound },
    stateKeys: stateKeysOf(before, next, place, bound, opened.reveal()),
  }
}

/** Data that only the old key opens, so a rekey deletes it permanently. */
export async function listEndedByRekey(api: Api, workspaceId: string) {
  const projects = await api.list(listProjects, { query: { workspace_id: workspaceId } })
  const perProject = projects.map(async ({ id }) => {
    const params = { project_id: id }
    const { environments } = await api.call(listEnvironments, { params })
    const perEnvironment = Object.keys(environments).map(async (environment) => {
      const query = { environment }
      const held = await api.list(listSecrets, { params, query })
      const deleted = await api.list(listDeletedSecrets, { params, query })
      return { changed: held.filter(({ version }) => version > 1).length, deleted: deleted.length }
    })
    return Promise.all(perEnvironment)
  })
  const all = (await Promise.all(perProject)).flat()
  const sum = (what: 'changed' | 'deleted') => all.reduce((total, each) => total + each[what], 0)
  return { changed: sum('changed'), deleted: sum('deleted') }
}
