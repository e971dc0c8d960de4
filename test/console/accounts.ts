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
import { newWorkspace } from '../../src/client/actions/workspaces.ts'
import { openApi } from '../../src/client/http/api.ts'
import { uuidv7 } from '../../src/core/crypto/encoding.ts'
import { login, prelogin, register } from '../../src/features/accounts/contract.ts'
import { identityOf, proveKeys } from '../../src/sigchain/index.ts'
import { marked } from '../support/canary.ts'

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
  const { order } = await newWorkspace(keys.publicKey, { userId, email, identity })
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
 * takes a second there. The page derives other passwords, and those of accounts that it created, itself.
 */
export async function answerKnownPasswords(context: BrowserContext): Promise<void> {
  await context.route('**/assets/argon2_worker-*.js', async (route) => {
    const [response, known] = await Promise.all([route.fetch(), listKnown()])
    const body = `${await response.text()}\n;(${answerKnown})(${JSON.stringify(known)})`
    await route.fulfill({ response, body })
  })
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
  message: number[]
  salt: number[]
  memory_kib: number
  iterations: number
  parallelism: number
}

/** Runs in the worker of Argon2, after its own code. */
function answerKnown(known: { order: Order; key: number[] }[]): void {
  const { onmessage: derive } = self
  self.onmessage = (event: MessageEvent<Order>) => {
    const { message, salt, memory_kib, iterations, parallelism } = event.data
    const order = [[...message], [...salt], memory_kib, iterations, parallelism].join()
    const found = known.find(
      (entry) =>
        order ===
        [
          entry.order.message,
          entry.order.salt,
          entry.order.memory_kib,
          entry.order.iterations,
          entry.order.parallelism,
        ].join(),
    )
    if (found) self.postMessage(Uint8Array.from(found.key))
    else derive?.call(self, event)
  }
}
