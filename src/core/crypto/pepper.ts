/**
 * Seals the proofs of callers for storage (protocol 4), under a key that is not in the database. An attacker who can
 * write there can neither create a valid row nor move one to another account, because the MAC covers its kind, id and
 * owner. Each row carries the id of its key, so that a check takes one MAC with any number of keys, and a start can
 * count the rows that each key still has.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Bytes, concat, lp, toBase64, u32be, utf8, uuidToBytes } from './encoding.ts'
import { hkdf, sha256 } from './primitives.ts'

/** A token's identity. The owner is a person for a session, otherwise the workspace. */
export type TokenIdentity = {
  kind: 'agt' | 'wkl' | 'ses' | 'ref' | 'pky'
  id: string
  ownerId: string
}

/** `older`: it fits, and was made under a key that is no longer the first. */
export type Match = 'current' | 'older' | 'wrong'

type PepperKey = { id: Bytes; key: Bytes }

const KEY_ID_BYTES = 4
/** The length prefix that `lp` writes before a UUID. */
const UUID_LENGTH = u32be(16)
const NIL_UUID = '00000000-0000-0000-0000-000000000000'
const NO_TOKEN: TokenIdentity = { kind: 'agt', id: NIL_UUID, ownerId: NIL_UUID }
const LABEL = 'cloakroom/v2/token-pepper'
const SUCCESSOR_LABEL = 'cloakroom/v3/session-successor'

/** Returns the entries of SECRET_KEY, a list separated by commas. The first entry seals, and all are tried. */
export function secretKeysOf(secretKey: string): [first: string, ...others: string[]] {
  const [first = '', ...others] = secretKey.split(',').map((entry) => entry.trim())
  return [first, ...others]
}

export class Pepper {
  readonly #first: PepperKey
  /** Keys by id in hex. */
  readonly #keys: ReadonlyMap<string, PepperKey>

  private constructor(first: PepperKey, keys: ReadonlyMap<string, PepperKey>) {
    this.#first = first
    this.#keys = keys
  }

  /** Reads SECRET_KEY. Throws an Error for two entries that are the same key. */
  static parse(secretKey: string): Pepper {
    const [first, ...others] = secretKeysOf(secretKey).map(pepperKey)
    if (!first) throw new Error('there is no key')
    const keys = new Map([first, ...others].map((key) => [key.id.toHex(), key]))
    if (keys.size < others.length + 1) throw new Error('two entries are the same key')
    return new Pepper(first, keys)
  }

  /** The ids of the keys, 8 hex digits each, the first key's first. */
  get keyIds(): [first: string, ...others: string[]] {
    const first = this.#first.id.toHex()
    return [first, ...[...this.#keys.keys()].filter((id) => id !== first)]
  }

  /** Returns a token's stored verifier: the key's ID and the MAC. */
  sealVerifier(token: TokenIdentity, verifier: Uint8Array): Bytes {
    return concat(this.#first.id, verifierMac(this.#first, token, verifier))
  }

  /** Compares in constant time. A missing row takes as long as a wrong one. */
  matchVerifier(
    token: TokenIdentity | null,
    verifier: Uint8Array,
    stored: Uint8Array | null,
  ): Match {
    const row = stored ?? new Uint8Array()
    const key = this.#keys.get(row.subarray(0, KEY_ID_BYTES).toHex())
    const expected = verifierMac(key ?? this.#first, token ?? NO_TOKEN, verifier)
    const given = row.subarray(KEY_ID_BYTES)
    // The length of a row is public; `timingSafeEqual` throws when lengths differ.
    const fits = given.length === expected.length && timingSafeEqual(given, expected)
    if (!fits || !key || token === null) return 'wrong'
    return key === this.#first ? 'current' : 'older'
  }

  /**
   * Derives the secret of a token's successor. It is equal on every call, and only the server can derive it, so that a
   * lost answer can be repeated. Made under the first key, or under the key that the stored row names; null if that key
   * is missing.
   */
  deriveSuccessor(
    { kind, id }: Pick<TokenIdentity, 'kind' | 'id'>,
    secret: Uint8Array,
    stored?: Uint8Array,
  ): Bytes | null {
    const named = stored && this.#keys.get(stored.subarray(0, KEY_ID_BYTES).toHex())
    const key = stored ? named : this.#first
    if (!key) return null
    const mac = createHmac('sha256', key.key).update(lp(SUCCESSOR_LABEL)).update(lp(kind))
    return new Uint8Array(
      mac.update(UUID_LENGTH).update(uuidToBytes(id)).update(lp(secret)).digest(),
    )
  }

  /**
   * Replaces a password before it is hashed slowly, with the base64 of its MAC. Uses the key with the id `keyId`, or
   * the first key if that one is missing.
   */
  pepperPassword(userId: string | null, password: string, keyId?: string): string {
    const key = this.#keys.get(keyId ?? '') ?? this.#first
    const mac = createHmac('sha256', key.key).update(UUID_LENGTH)
    return toBase64(
      mac
        .update(uuidToBytes(userId ?? NIL_UUID))
        .update(lp(password))
        .digest(),
    )
  }
}

function pepperKey(secretKey: string): PepperKey {
  const key = hkdf(utf8(secretKey), new Uint8Array(), LABEL)
  return { id: sha256(key).slice(0, KEY_ID_BYTES), key }
}

function verifierMac(
  { key }: PepperKey,
  { kind, id, ownerId }: TokenIdentity,
  verifier: Uint8Array,
): Uint8Array {
  const mac = createHmac('sha256', key).update(lp(kind))
  for (const uuid of [id, ownerId]) mac.update(UUID_LENGTH).update(uuidToBytes(uuid))
  return mac.update(verifier).digest()
}
