/** Registration and login. The password and the keys stay in this process; the server receives verifiers and wrapped keys. */
import { uuidv7 } from '../../core/crypto/encoding.ts'
import { login, register } from '../../features/accounts/contract.ts'
import { identityOf } from '../../sigchain/index.ts'
import { masterKeyOf } from '../actions/credentials.ts'
import { createWorkspaceKeys } from '../actions/workspaces.ts'
import { type Api, openApi } from '../http/api.ts'
import { openWorkspace } from '../vault.ts'
import type { WorkspaceKey } from '../workspace_key.ts'
import { type AccountKeys, createAccountKeys, unwrapKeys } from './account_keys.ts'
import type { Argon2id } from './argon2.ts'
import { authKey, generateRecoveryKey, userKey } from './keys.ts'
import { recoveryOf, writeRecoveryKey } from './recovery.ts'

export type OpenSession = AccountKeys & {
  api: Api
  email: string
  access: string
  refresh: string
  /** Without their chains. */
  workspaces: WorkspaceKey[]
}

/**
 * Registers an account whose password and keys never leave this process, with a personal workspace. Returns the
 * recovery key as text, and the known state of a signed workspace. The first account of a server may need its owner
 * code.
 */
export async function signUp(
  origin: string,
  email: string,
  password: string,
  isSigned = true,
  ownerCode?: string,
  argon2id?: Argon2id,
) {
  const { keys, ...account } = await createAccountKeys(email, password, argon2id)
  const recoveryKey = generateRecoveryKey()
  const userId = uuidv7()
  const { seed } = keys
  const founder = isSigned && seed ? { userId, email, identity: await identityOf(seed) } : null
  const workspace = await createWorkspaceKeys(keys.publicKey, founder)
  await openApi(origin).call(register, {
    body: {
      email,
      ...account,
      ...(founder && { user_id: userId }),
      recovery: await recoveryOf(recoveryKey, keys),
      workspace: workspace.order,
      ...(ownerCode === undefined ? {} : { owner_code: ownerCode }),
    },
  })
  const { order, known } = workspace
  return { recoveryKey: writeRecoveryKey(recoveryKey), workspaceId: order.id, known }
}

/**
 * Logs in, and decrypts the private key and the workspaces.
 *
 * @throws ApiError when the server refuses, Error when it asks for weak key derivation or its copy of the private key
 *   does not open
 */
export async function logInByPassword(
  origin: string,
  email: string,
  password: string,
  argon2id?: Argon2id,
): Promise<OpenSession> {
  const anonymous = openApi(origin)
  const masterKey = await masterKeyOf({ server: origin, email, argon2id }, password)
  const answer = await anonymous.call(login, { body: { email, password: authKey(masterKey) } })
  const wrapped = answer.encrypted_private_key
  const keys = await unwrapKeys('account', userKey(masterKey), wrapped, answer.user)
  if (!keys) throw new Error('the private key on the server cannot be decrypted with this password')
  const opened = await Promise.all(
    answer.workspaces.map((workspace) => openWorkspace(workspace, keys.privateKey, keys.publicKey)),
  )
  return {
    api: openApi(origin, () => answer.access),
    email,
    access: answer.access,
    refresh: answer.refresh,
    ...keys,
    workspaces: opened.flatMap((workspace) => workspace ?? []),
  }
}
