/**
 * Creates new keys for an account, or its first signing key. One atomic call seals every workspace to them, with a link
 * for each signed workspace. Tokens granted with the old key end, because it may be compromised; tokens to keep are
 * signed again with the new key.
 */

import { type Bytes, fromBase64, toBase64 } from '../../core/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../core/crypto/envelope.ts'
import { generateRandomBytes } from '../../core/crypto/random.ts'
import { getMe, replaceKeys } from '../../features/accounts/contract.ts'
import {
  type Chain,
  extend,
  type Identity,
  identityOf,
  proveKeys,
  type SignedText,
  signLink,
} from '../../sigchain/index.ts'
import { type AccountKeys, wrapKeys } from '../account/account_keys.ts'
import type { Argon2id } from '../account/argon2.ts'
import { authKey, generateRecoveryKey, userKey } from '../account/keys.ts'
import { recoveryOf } from '../account/recovery.ts'
import { type Api, ApiError, NO_CODE } from '../http/api.ts'
import { type SignedToken, signGrantsAgain, tokensSignedBy } from '../signed/kept_tokens.ts'
import { describeLeftToken, type LeftToken } from '../signed/rekey_tokens.ts'
import type { OpenWorkspace } from '../workspace.ts'
import { masterKeyOf } from './credentials.ts'

type Holder = { api: Api; server: string; email: string; argon2id?: Argon2id | undefined }

/** Data that is generated before the request, and cannot be generated again. */
export type NextKeys = { keys: AccountKeys & { seed: Bytes }; recoveryKey: Uint8Array }

/** The result for the tokens to keep, by workspace. */
export type Rotated = {
  workspace: OpenWorkspace
  granted: { id: string; label: string }[]
  left: LeftToken[]
}

/** The connection or a gateway failed, so the server may have accepted the keys. */
export class UnknownOutcome extends Error {
  override readonly name = 'UnknownOutcome'
  readonly rotated: Rotated[]

  constructor(rotated: Rotated[], cause: unknown) {
    super('unknown whether the server accepted the new keys', { cause })
    this.rotated = rotated
  }
}

const SEED_BYTES = 32
const MOST_TRIES = 5
/** The limit of one call. */
const MOST_GRANTS = 1_000
const MOST_GRANT_BYTES = 6 * 1_048_576

export function generateNextKeys(): Promise<NextKeys> {
  return nextKeysOf(generateRandomBytes(SEED_BYTES), generateRecoveryKey())
}

export async function nextKeysOf(seed: Bytes, recoveryKey: Uint8Array): Promise<NextKeys> {
  const { privateKey, public_key } = await identityOf(seed)
  const publicKey = fromBase64(public_key) ?? new Uint8Array()
  return { keys: { seed, privateKey, publicKey }, recoveryKey }
}

/** Whether the account has these keys according to the server. @throws as `Api.call` */
export async function isTaken(api: Api, publicKey: Uint8Array): Promise<boolean> {
  return (await api.call(getMe, {})).public_key === toBase64(publicKey)
}

/**
 * `open` reads all workspaces that the account is a member of, with their keys. `kept` are the granted tokens to keep.
 *
 * @throws ApiError `validation_error` for a wrong password, UntrustedChain, UnknownOutcome
 */
export async function rotateKeys(
  holder: Holder,
  password: string,
  { keys, recoveryKey }: NextKeys,
  open: () => Promise<OpenWorkspace[]>,
  kept: readonly SignedToken[],
): Promise<Rotated[]> {
  const { api, email } = holder
  const masterKey = await masterKeyOf(holder, password)
  const identity = await identityOf(keys.seed)
  const body = {
    current_password: authKey(masterKey),
    signing_key: identity.signing_key,
    public_key: identity.public_key,
    key_proof: await proveKeys(identity, email),
    encrypted_private_key: await wrapKeys('account', userKey(masterKey), keys),
    recovery: await recoveryOf(recoveryKey, keys),
  }
  const send = async () => {
    const opened = await open()
    const entries = await Promise.all(opened.map((one) => entryOf(one, keys, identity, kept)))
    return sendAll(entries, (workspaces) =>
      api.call(replaceKeys, { body: { ...body, workspaces } }),
    )
  }
  return retryUntilCurrent(send, async () => {
    for (const workspace of await open()) await workspace.newestChain()
  })
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.status < 500 && error.code !== NO_CODE
}

type Entry = {
  workspace: OpenWorkspace
  body: { workspace_id: string; epoch: number; encrypted_workspace_key: string; link?: SignedText }
  held: readonly SignedToken[]
  left: LeftToken[]
  grants: Awaited<ReturnType<typeof signGrantsAgain>>
}

/** Sends as many tokens as fit into one call, and none if one is refused: old keys must not stay valid. */
async function sendAll(
  entries: readonly Entry[],
  call: (workspaces: (Entry['body'] & { grants?: Entry['grants'] })[]) => Promise<void>,
): Promise<Rotated[]> {
  const send = async (sent: readonly Entry[]) => {
    const rotated = sent.map(({ workspace, held, left }) => ({
      workspace,
      granted: held.map(({ token, grant }) => ({ id: token.id, label: grant.label })),
      left,
    }))
    const bodies = sent.map(({ body, grants }) => (grants.length > 0 ? { ...body, grants } : body))
    await call(bodies).catch((error: unknown) => {
      throw isRefusal(error) ? error : new UnknownOutcome(rotated, error)
    })
    return rotated
  }
  const fitting = await selectWithinLimits(entries)
  try {
    return await send(fitting)
  } catch (error) {
    const reason = explainRefusedGrant(error)
    if (reason === null) throw error
    return send(await Promise.all(entries.map((entry) => cut(entry, 0, reason))))
  }
}

async function selectWithinLimits(entries: readonly Entry[]): Promise<Entry[]> {
  let bytes = 0
  const fitting: Entry[] = []
  for (const entry of entries) {
    const count = entry.grants.slice(0, MOST_GRANTS).findIndex((grant) => {
      bytes += JSON.stringify(grant).length
      return bytes > MOST_GRANT_BYTES
    })
    const most = count < 0 ? MOST_GRANTS : count
    fitting.push(await cut(entry, most, 'there are more than one call takes'))
  }
  return fitting
}

/** The tokens for this call, and the remaining ones. */
async function cut(entry: Entry, count: number, reason: string): Promise<Entry> {
  const cutOff = entry.held.slice(count).map(({ token }) => describeLeftToken(token, reason, null))
  return {
    ...entry,
    held: entry.held.slice(0, count),
    grants: entry.grants.slice(0, count),
    left: [...entry.left, ...(await Promise.all(cutOff))],
  }
}

/** Why the server rejected a signed token; null for another refusal. */
function explainRefusedGrant(error: unknown): string | null {
  if (!(error instanceof ApiError) || error.code !== 'link_refused') return null
  return error.fields.find(({ path }) => path.startsWith('grants'))?.message ?? null
}

/** Reads the new state and retries after a concurrent change. */
async function retryUntilCurrent<T>(
  send: () => Promise<T>,
  readOn: () => Promise<void>,
): Promise<T> {
  for (let tries = 1; tries < MOST_TRIES; tries += 1) {
    try {
      return await send()
    } catch (error) {
      if (!isOvertaken(error)) throw error
      await readOn()
    }
  }
  return send()
}

async function entryOf(
  workspace: OpenWorkspace,
  keys: AccountKeys,
  next: Identity,
  kept: readonly SignedToken[],
): Promise<Entry> {
  const { id: workspace_id, epoch, key } = workspace
  const place = { workspaceId: workspace_id, recipientPublicKey: keys.publicKey, epoch }
  const encrypted_workspace_key = await sealMemberEnvelope(place, key)
  const body = { workspace_id, epoch, encrypted_workspace_key }
  const before = await workspace.signer()
  if (before === null) return { workspace, body, held: [], left: [], grants: [] }
  const { chain, userId, signingKey } = before
  const link = await linkOf(chain, userId, next, signingKey)
  const held = kept.filter(({ grant }) => grant.workspace_id === workspace_id)
  const signer = { chain: await extend(chain, [link]), userId, signingKey: next.signingKey }
  const grants = await signGrantsAgain(signer, workspace, held)
  return { workspace, body: { ...body, link }, held, left: [], grants }
}

/** The tokens that end with the account's key, in all workspaces. */
export async function ownTokens(api: Api, workspaces: readonly OpenWorkspace[]) {
  const each = await Promise.all(workspaces.map((one) => ownTokensIn(api, one)))
  return { held: each.flatMap(({ held }) => held), left: each.flatMap(({ left }) => left) }
}

/** Non-admins and invited admins have signed no tokens. */
async function ownTokensIn(api: Api, workspace: OpenWorkspace): ReturnType<typeof tokensSignedBy> {
  const none = { held: [], left: [] }
  const signer = await workspace.signer()
  const role = signer?.chain.members.get(signer.userId)?.role
  if (signer === null || (role !== 'owner' && role !== 'admin')) return none
  return tokensSignedBy(api, signer.chain, signer.userId).catch((error: unknown) => {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return none
    throw error
  })
}

/** Signed with the previous key. */
function linkOf(chain: Chain, signer: string, next: Identity, key: CryptoKey): Promise<SignedText> {
  const { signing_key, public_key } = next
  const body = { signing_key, public_key }
  const at = new Date().toISOString()
  return signLink(chain, { type: 'keys.rotated', body, signer, at }, key)
}

/** Whether there was a concurrent link, rekey, invitation or revocation. */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  const isMissing = error.fields.some(({ path }) => path.startsWith('workspaces.'))
  return isMissing || ['conflict', 'epoch_conflict', 'not_found'].includes(error.code)
}
