/**
 * New keys for an account, or the signing key that it never had: made here, with every workspace sealed to them and each
 * signed one told by a link, in one call. The server takes all of it or nothing.
 */
import { randomBytes } from 'node:crypto'
import { prelogin, replaceKeys } from '../../features/accounts/contract.ts'
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import { sealMemberEnvelope } from '../../platform/crypto/envelope.ts'
import {
  type Identity,
  identityOf,
  proveKeys,
  type SignedText,
  signLink,
} from '../../sigchain/index.ts'
import { type Api, ApiError, openApi } from '../api.ts'
import { ownId } from '../signed/chain.ts'
import { type OpenWorkspace, signingOf } from '../vault.ts'
import { type AccountKeys, wrapKeys } from './account_keys.ts'
import { authKey, deriveMasterKey, generateRecoveryKey, userKey } from './keys.ts'
import { recoveryOf, writeRecoveryKey } from './recovery.ts'

type Holder = { api: Api; server: string; email: string }

const SEED_BYTES = 32
const MOST_TRIES = 5

/**
 * `open` reads all workspaces of the account, invited ones too, with their keys. Returns the new keys, and the new
 * recovery key as text.
 *
 * @throws ApiError `validation_error` for a wrong password, UntrustedChain
 */
export async function rotateKeys(
  holder: Holder,
  password: string,
  open: () => Promise<OpenWorkspace[]>,
) {
  const { api, server, email } = holder
  const { key_salt, kdf } = await openApi(server).call(prelogin, { body: { email } })
  const masterKey = await deriveMasterKey(password, fromBase64(key_salt) ?? new Uint8Array(), kdf)
  const { keys, identity } = await newKeys()
  const recoveryKey = generateRecoveryKey()
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
    const workspaces = await Promise.all(opened.map((one) => entryOf(one, keys, identity)))
    await api.call(replaceKeys, { body: { ...body, workspaces } })
    return opened
  }
  const workspaces = await untilCurrent(send, async () => {
    for (const workspace of await open()) await signingOf(workspace)?.chains.continued(workspace)
  })
  return { keys, recoveryKey: writeRecoveryKey(recoveryKey), workspaces }
}

/** Does it again, having read on, where somebody was faster. */
async function untilCurrent<T>(send: () => Promise<T>, readOn: () => Promise<void>): Promise<T> {
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

async function newKeys(): Promise<{ keys: AccountKeys; identity: Identity }> {
  const seed = new Uint8Array(randomBytes(SEED_BYTES))
  const identity = await identityOf(seed)
  const publicKey = fromBase64(identity.public_key) ?? new Uint8Array()
  return { keys: { seed, privateKey: identity.privateKey, publicKey }, identity }
}

async function entryOf(workspace: OpenWorkspace, keys: AccountKeys, next: Identity) {
  const { id, epoch, key } = workspace
  const place = { workspaceId: id, recipientPublicKey: keys.publicKey, epoch }
  const encrypted_workspace_key = await sealMemberEnvelope(place, key)
  const link = await linkOf(workspace, next)
  return { workspace_id: id, epoch, encrypted_workspace_key, ...(link && { link }) }
}

/** Signed with the key of before; null in a plain workspace. */
async function linkOf(workspace: OpenWorkspace, next: Identity): Promise<SignedText | null> {
  const signing = signingOf(workspace)
  if (signing === null) return null
  const chain = await signing.chains.of(workspace)
  const { signing_key, signingKey } = await signing.identity()
  const change = {
    type: 'keys.rotated',
    body: { signing_key: next.signing_key, public_key: next.public_key },
    signer: ownId(chain, workspace, signing_key),
    at: new Date().toISOString(),
  } as const
  return signLink(chain, change, signingKey)
}

/** Somebody signed a link, made a new key, or invited in the meantime. */
function isOvertaken(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  const isMissing = error.fields.some(({ path }) => path.startsWith('workspaces.'))
  return error.code === 'conflict' || error.code === 'epoch_conflict' || isMissing
}
