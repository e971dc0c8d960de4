/** The keys of an assumed AWS role (protocol 13.1): one name represents all three, and they only sign. */
import { utf8 } from '../../core/crypto/encoding.ts'
import { Fault } from '../../core/fault.ts'
import { Secret } from '../../core/secret.ts'
import type { Credential } from '../../derivation/state.ts'
import { textIn } from './signature.ts'

/** Keys of a role. The bytes are the secret access key. */
export class RoleKeys extends Secret {
  readonly accessKeyId: string
  readonly #sessionToken: string

  constructor(accessKeyId: string, secretAccessKey: Uint8Array, sessionToken: string) {
    super(secretAccessKey)
    this.accessKeyId = accessKeyId
    this.#sessionToken = sessionToken
  }

  /** Call it only to send the token. */
  revealSessionToken(): string {
    return this.#sessionToken
  }
}

/** A derived credential, for one call. */
export function openDerivedCredential(credential: NonNullable<Credential>): Secret {
  if (typeof credential === 'string') return new Secret(utf8(credential))
  const { access_key_id, secret_access_key, session_token } = credential
  return new RoleKeys(access_key_id, utf8(secret_access_key), session_token)
}

export function roleKeysIn(values: ReadonlyMap<string, Secret>, name: string): RoleKeys | null {
  const value = values.get(name)
  return value instanceof RoleKeys ? value : null
}

/** The access key ID that a secret holds. @throws Fault `unknown_secret`, `unusable_secret` */
export function accessKeyIdIn(values: ReadonlyMap<string, Secret>, name: string): string {
  return roleKeysIn(values, name)?.accessKeyId ?? textIn(values, name)
}

/** @throws Fault `validation_error` for an access key ID that is alone and no role */
export function requireRoleKeys(role: RoleKeys | null, name: string): RoleKeys {
  if (role) return role
  throw new Fault('validation_error', {
    message: `The secret ${name} is not an AWS role, so secret_access_key is also required.`,
  })
}
