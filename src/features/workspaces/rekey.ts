/**
 * Rekey: after a member has left, what they could open must not open what is written from then on. A
 * client makes the new key and seals everything under it; here all of it is replaced in one
 * transaction, or nothing. Between two epochs there is no state in which some secrets are under the
 * old key and some under the new one. Checks and seals come before the transaction, in time slices:
 * the embedded database has one connection, and everybody waits for a transaction.
 */
import { TimeSlice } from '../../core/async/time_slice.ts'
import { transactWhenRead } from '../../core/async/unread.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { type OuterLayer, secretRow } from '../../core/crypto/outer_layer.ts'
import { Fault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import type { Reading } from '../../database/open.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import type { Change } from '../../http/recorder.ts'
import { type Changing, createPreparedRoute, type Route } from '../../http/route.ts'
import { acceptLink, type Claim, chainOf, type SignedServices } from '../links/index.ts'
import { type RekeyBody, rekeyWorkspace } from './contract.ts'
import { listWorkspaces } from './memberships.ts'
import {
  type Holdings,
  placeOf,
  portions,
  requireHeld,
  requireNextEpoch,
  requireOnce,
  type StoredSecret,
} from './rekey_checks.ts'
import { replaceDerived, sealDerived } from './rekey_derived.ts'
import {
  advanceEpoch,
  dropDeleted,
  readHolders,
  readSecretsToRekey,
  readVersions,
  replaceEnvelopes,
  replaceGrants,
  replaceSecrets,
} from './rekey_queries.ts'
import {
  type Hashes,
  judgeSigned,
  keepHash,
  replaceSigned,
  type SignedRekey,
} from './rekey_signed.ts'

type Rekey = Grant<'workspace.update'>

export function rekeyRoutes(services: SignedServices): Route[] {
  return [
    createPreparedRoute(
      rekeyWorkspace,
      ({ db, grant, body }) => transactWhenRead(() => prepareRekey(db, services, grant, body)),
      ({ body, prepared, ...changing }) => rekey(changing, services, body, prepared),
    ),
  ]
}

async function rekey(
  changing: Changing<Rekey>,
  services: SignedServices,
  body: RekeyBody,
  early: PreparedRekey,
) {
  const { tx, grant, audit } = changing
  const { outer } = services
  const workspace = await lockWorkspace(tx, grant)
  if (body.epoch !== workspace.epoch + 1) throw new Fault('epoch_conflict')
  const { policyVersion } = await readVersions(tx, grant)
  // If a secret was written in the meantime, everything is done again under the lock.
  const isCurrent = early.policyVersion === policyVersion
  const prepared = isCurrent ? early : await prepareRekey(tx, services, grant, body)
  const chain = await chainOf(changing, services)
  const held = { ...(await readHolders(tx, grant, chain)), secrets: prepared.secrets }
  await requireHeld(held, body)
  const claim: Claim = { type: 'epoch.advanced', body: { epoch: body.epoch } }
  const after = await acceptLink(changing, chain, body.link, claim)
  // Judged by the chain with this link, or not at all.
  const { signed } = prepared
  if (after?.head !== signed?.head) throw new Fault('conflict')

  await replaceDerived(tx, grant, body, prepared.derived)
  await replaceEnvelopes(tx, outer, grant, held, body)
  await replaceSecrets(tx, grant, prepared.sealed)
  await replaceGrants(tx, outer, grant, held, body, signed !== null)
  if (signed) await replaceSigned(tx, grant, held, signed)
  await dropDeleted(tx, grant)
  if (!(await advanceEpoch(tx, grant, body.epoch))) throw new Fault('epoch_conflict')

  const resource = { type: 'workspace', id: grant.workspaceId, name: workspace.name }
  audit.record({ action: 'workspace.rekeyed', resource }, ...listLostGrants(held, body))
  const [shown] = await listWorkspaces(tx, outer, grant.userId, { workspaceId: grant.workspaceId })
  if (!shown) throw new Fault('not_found')
  return shown
}

/** Tokens that could open something before and can open nothing now. */
function listLostGrants(held: Holdings, body: RekeyBody): Change[] {
  const kept = new Set(
    body.tokens.flatMap(({ token_id, envelopes }) => (envelopes.length > 0 ? [token_id] : [])),
  )
  return [...held.tokens.values()]
    .filter(({ id, live, provisioned }) => live && provisioned && !kept.has(id))
    .map(({ id, label }) => ({
      action: 'token.grant_removed',
      resource: { type: 'token', id, name: label },
    }))
}

type PreparedRekey = {
  /** The prepared data is valid while the workspace has this version. */
  policyVersion: number
  secrets: Holdings['secrets']
  /** Rows to be written by one statement each, as the text of a JSON array. */
  sealed: string[]
  derived: string[]
  /** Null in a plain workspace, and if the link cannot be stored. */
  signed: SignedRekey | null
}

/** Rows, and characters of base64, of one statement: the database takes longer to prepare one than for some thousand rows. */
const STATEMENT_ROWS = 5000
const STATEMENT_LENGTH = 1_048_576

/** @throws Fault for what was not right at some moment since the request came */
async function prepareRekey(
  db: Reading,
  services: SignedServices,
  grant: Rekey,
  body: RekeyBody,
): Promise<PreparedRekey> {
  await requireOnce(body)
  // First: what changes after it is noticed.
  const { epoch, policyVersion } = await readVersions(db, grant)
  await requireNextEpoch(epoch, body)
  const before = await chainOf({ tx: db, grant }, services)
  const secrets = await readSecretsToRekey(db, grant)
  const held = { ...(await readHolders(db, grant, before)), secrets }
  await requireHeld(held, body)
  const hashes: Hashes | null = before ? new Map() : null
  const sealed = await sealSecrets(services.outer, grant, { held: secrets, hashes }, body)
  const derived = await sealDerived(services.outer, grant, body)
  const signed = await judgeSigned({ db, grant }, services, { before, held, hashes }, body)
  return { policyVersion, secrets, sealed, derived, signed }
}

async function sealSecrets(
  outer: OuterLayer,
  { workspaceId }: Rekey,
  { held, hashes }: { held: Holdings['secrets']; hashes: Hashes | null },
  body: RekeyBody,
): Promise<string[]> {
  const sealed: string[] = []
  const slice = new TimeSlice()
  let rows: unknown[] = []
  let length = 0
  const close = () => {
    sealed.push(JSON.stringify(rows))
    rows = []
    length = 0
  }
  for (const portion of portions(body.secrets, ({ value }) => value.length)) {
    const sealing = portion.map((sent) =>
      sealSecret(outer, workspaceId, held.get(placeOf(sent)), { ...sent, hashes }),
    )
    rows.push(...(await Promise.all(sealing)))
    length += portion.reduce((sum, { value }) => sum + value.length, 0)
    if (rows.length >= STATEMENT_ROWS || length >= STATEMENT_LENGTH) close()
    if (slice.isSpent) await slice.waitForNextSlice()
  }
  if (rows.length > 0) close()
  return sealed
}

async function sealSecret(
  outer: OuterLayer,
  workspaceId: string,
  stored: StoredSecret | undefined,
  sent: RekeyBody['secrets'][number] & { hashes: Hashes | null },
) {
  if (!stored) throw new TypeError('a secret was not checked')
  const { id, project_id: projectId, environment, key } = stored
  const version = stored.version + 1
  const row = secretRow({ projectId, environment, key })
  const ciphertext = Uint8Array.fromBase64(sent.value)
  const hash = sent.hashes && keepHash(sent.hashes, stored, ciphertext)
  const [sealed, sealedVersion] = await Promise.all([
    outer.seal('secrets.value', workspaceId, row, ciphertext),
    outer.seal('secret_versions.value', workspaceId, [...row, { u32: version }], ciphertext),
  ])
  const value_hash = hash && toBase64(hash)
  return {
    id,
    version,
    sealed: toBase64(sealed),
    sealed_version: toBase64(sealedVersion),
    value_hash,
  }
}
