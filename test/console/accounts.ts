/**
 * Accounts created outside the browser. Their password is real, so that anyone can sign in with it by the screens.
 * They share one salt, so that Argon2 runs once in this process and not once for each account.
 */
import type { BrowserContext } from 'playwright-core'
import { unwrapKeys, wrapKeys } from '../../src/client/account/account_keys.ts'
import {
  authKey,
  deriveMasterKey,
  generateRecoveryKey,
  KDF_DEFAULT,
  type Kdf,
  userKey,
} from '../../src/client/account/keys.ts'
import { recoveryOf } from '../../src/client/account/recovery.ts'
import { createWorkspaceKeys } from '../../src/client/actions/workspaces.ts'
import { openApi } from '../../src/client/http/api.ts'
import { uuidv7 } from '../../src/core/crypto/encoding.ts'
import { login, prelogin, register } from '../../src/features/accounts/contract.ts'
import { identityOf, proveKeys } from '../../src/sigchain/index.ts'
import { marked } from '../support/canary.ts'
import { runBeforeKeysWorker } from './worker_scripts.ts'

/** Strong enough for the product. */
export const PASSWORD = marked('four unlikely words ')

const SALT = crypto.getRandomValues(new Uint8Array(16)).toBase64()
const masterKeys = new Map<string, Promise<Uint8Array>>()

/** Each password and salt is derived once. */
function masterKeyOf(password: string, salt: string, kdf: Kdf): Promise<Uint8Array> {
  const name = JSON.stringify([password, salt, kdf])
  const known = masterKeys.get(name) ?? deriveMasterKey(password, Uint8Array.fromBase64(salt), kdf)
  masterKeys.set(name, known)
  return known
}

/** Registers an account with a signed personal workspace. */
export async function signUp(server: string, email: string) {
  const seed = crypto.getRandomValues(new Uint8Array(32))
  const identity = await identityOf(seed)
  const { privateKey, public_key, signing_key } = identity
  const keys = { seed, privateKey, publicKey: Uint8Array.fromBase64(public_key) }
  const masterKey = await masterKeyOf(PASSWORD, SALT, KDF_DEFAULT)
  const userId = uuidv7()
  const { order } = await createWorkspaceKeys(keys.publicKey, { userId, email, identity })
  const body = {
    email,
    user_id: userId,
    password: authKey(masterKey),
    public_key,
    signing_key,
    key_proof: await proveKeys(identity, email),
    key_salt: SALT,
    kdf: { ...KDF_DEFAULT },
    encrypted_private_key: await wrapKeys('account', userKey(masterKey), keys),
    recovery: await recoveryOf(generateRecoveryKey(), keys),
    workspace: order,
  }
  await openApi(server).call(register, { body })
  return { userId, seed, password: body.password, workspaceId: order.id }
}

/** A session of an account on another machine, with its keys. */
export async function logIn(server: string, email: string, password = PASSWORD) {
  const anonymous = openApi(server)
  const { key_salt, kdf } = await anonymous.call(prelogin, { body: { email } })
  const masterKey = await masterKeyOf(password, key_salt, kdf)
  const { access, user, encrypted_private_key } = await anonymous.call(login, {
    body: { email, password: authKey(masterKey) },
  })
  const keys = await unwrapKeys('account', userKey(masterKey), encrypted_private_key, user)
  if (!keys?.seed) throw new Error('the account cannot sign')
  return { api: openApi(server, () => access), userId: user.id, ...keys, seed: keys.seed }
}

/**
 * Answers Argon2 in this browser context with the keys that this process has derived already, because each run
 * takes a second there. The page derives other passwords, and those of accounts that it created, itself. No route sees
 * the script of Argon2, because another worker starts it.
 */
export function answerKnownPasswords(context: BrowserContext): Promise<void> {
  return runBeforeKeysWorker(
    context,
    async () => `(${answerKnown})(${JSON.stringify(await listKnown())})`,
  )
}

function listKnown() {
  const listed = [...masterKeys].map(async ([name, key]) => {
    const [password, salt, kdf]: [string, string, Kdf] = JSON.parse(name)
    const message = [...new TextEncoder().encode(password.normalize('NFKC'))]
    const { algorithm, ...costs } = kdf
    return {
      order: { message, salt: [...Uint8Array.fromBase64(salt)], ...costs },
      key: [...(await key)],
    }
  })
  return Promise.all(listed)
}

type Order = {
  message: ArrayLike<number> & Iterable<number>
  salt: ArrayLike<number> & Iterable<number>
  memory_kib: number
  iterations: number
  parallelism: number
}

/** Runs in the worker of the keys, before its own code: it starts a worker for each run of Argon2. */
function answerKnown(known: { order: Order; key: number[] }[]): void {
  const textOf = ({ message, salt, memory_kib, iterations, parallelism }: Order) =>
    [[...message], [...salt], memory_kib, iterations, parallelism].join()
  const keys = new Map(known.map(({ order, key }) => [textOf(order), key]))
  const { Worker: BrowserWorker } = self
  self.Worker = class extends BrowserWorker {
    override postMessage(order: Order) {
      const key = keys.get(textOf(order))
      if (key) this.onmessage?.(new MessageEvent('message', { data: Uint8Array.from(key) }))
      else super.postMessage(order)
    }
  }
}
