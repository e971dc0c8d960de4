/**
 * The outer layer (protocol 3.4): everything clients sealed is wrapped once more under
 * ENCRYPTION_KEY before it is stored, so that a database without that key shows no ciphertext, and
 * a blob moved to another row or column does not open. It protects no plaintext by itself.
 */
import { LruMap } from '../lru.ts'
import { type Bytes, concat, fromUtf8, lp, u32be, utf8, uuidToBytes } from './encoding.ts'
import { KEY_ID_BYTES, parseOuterKeys } from './outer_keys.ts'

/** The column constants of protocol 3.4; they name the protocol's columns, not those of a schema. */
export type OuterColumn =
  | 'secrets.value'
  | 'secret_versions.value'
  | 'memberships.encrypted_workspace_key'
  | 'token_envelopes.envelope'
  | `users.${'encrypted_private_key' | 'recovery_private_key'}`
  | 'passkeys.encrypted_seed'
  | 'derived.state'
  | `approvals.${'details' | 'envelopes'}`
  | 'notice_targets.secret'

/** One part of a row's identity; each is length-prefixed in the additional data. */
export type OuterPart = { uuid: string } | { text: string } | { u32: number }

/** The identity of a secret's row and of its derived state's (protocol 3.4); a version's has its number after it. */
export function secretRow(row: {
  projectId: string
  environment: string
  key: string
}): OuterPart[] {
  return [{ uuid: row.projectId }, { text: row.environment }, { text: row.key }]
}

type Place = { column: OuterColumn | 'check.value'; saltId: string; row: readonly OuterPart[] }

/** One blob, and the identity of the row that holds it. */
export type Stored = { row: readonly OuterPart[]; blob: Uint8Array }

type Sealed = { parameters: AesGcmParams; subkey: CryptoKey; ciphertext: Bytes }

// `base` is a non-extractable HKDF key: the raw bytes are not kept.
type OuterKey = { id: Bytes; base: Promise<CryptoKey> }

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + KEY_ID_BYTES + NONCE_BYTES
const MAX_SUBKEYS = 4096
/** Messages that Web Crypto gets together. The event loop runs before the next ones. */
const OPENED_AT_ONCE = 128

// The check row belongs to no workspace: it has the nil UUID as salt and no row identity.
const CHECK_PLACE: Place = {
  column: 'check.value',
  saltId: '00000000-0000-0000-0000-000000000000',
  row: [],
}
const CHECK_TEXT = 'cloakroom/v1/check'

export class OuterLayer {
  readonly #keys: readonly OuterKey[]
  readonly #primary: OuterKey
  readonly #subkeys = new LruMap<string, Promise<CryptoKey>>({ max: MAX_SUBKEYS })

  private constructor(primary: OuterKey, others: readonly OuterKey[]) {
    this.#primary = primary
    this.#keys = [primary, ...others]
  }

  /** Reads ENCRYPTION_KEY. @throws Error that names the entry but never shows it */
  static parse(encryptionKey: string): OuterLayer {
    const [primary, ...others] = parseOuterKeys(encryptionKey).map(({ id, bytes }) => ({
      id: Uint8Array.fromHex(id),
      base: importBase(bytes),
    }))
    if (!primary) throw new Error('there is no key')
    return new OuterLayer(primary, others)
  }

  /** The id of the key that encrypts, 8 hex digits: first 4 bytes of SHA-256(key). */
  get primaryKeyId(): string {
    return this.#primary.id.toHex()
  }

  /**
   * `0x01 || keyId4 || nonce12 || ciphertext || tag` of `x`, the raw bytes a client sent. `saltId`
   * is the workspace's or user's id, `row` the identity that protocol 3.4 lists for the column.
   */
  async seal(
    column: OuterColumn,
    saltId: string,
    row: readonly OuterPart[],
    x: Uint8Array,
  ): Promise<Uint8Array> {
    return this.#sealAt({ column, saltId, row }, x)
  }

  /** The raw bytes, or `null` for a blob of another place, of an unknown key, or altered. */
  async open(
    column: OuterColumn,
    saltId: string,
    row: readonly OuterPart[],
    blob: Uint8Array,
  ): Promise<Uint8Array | null> {
    const [opened = null] = await this.openAll(column, saltId, [{ row, blob }])
    return opened
  }

  /** Opens many rows of one column and salt, in their order, at a fraction of the cost of single calls. */
  async openAll(
    column: Place['column'],
    saltId: string,
    stored: readonly Stored[],
  ): Promise<(Uint8Array | null)[]> {
    if (stored.length === 0) return []
    const opened: (Uint8Array | null)[] = []
    const subkeys = await this.#subkeysOf(saltId, column)
    const binding = bindingOf(column)
    for (let from = 0; from < stored.length; from += OPENED_AT_ONCE) {
      const some = stored.slice(from, from + OPENED_AT_ONCE)
      const sealed = some.map(({ row, blob }) => this.#findSealed(binding(row), blob, subkeys))
      opened.push(...(await Promise.all(sealed.map(decrypt))))
    }
    return opened
  }

  /** A blob to store once, by which a later start checks that it was given the right key. */
  async sealCheck(): Promise<Uint8Array> {
    return this.#sealAt(CHECK_PLACE, utf8(CHECK_TEXT))
  }

  /** Whether one of the keys opens the check that `sealCheck` made. */
  async openCheck(blob: Uint8Array): Promise<boolean> {
    const { column, saltId, row } = CHECK_PLACE
    const [text = null] = await this.openAll(column, saltId, [{ row, blob }])
    return text !== null && fromUtf8(text) === CHECK_TEXT
  }

  async #sealAt(place: Place, x: Uint8Array): Promise<Uint8Array> {
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
    const subkey = await this.#subkey(this.#primary, place.saltId, place.column)
    const sealed = await crypto.subtle.encrypt(
      gcm(nonce, bindingOf(place.column)(place.row)),
      subkey,
      copyToUnshared(x),
    )
    return concat(Uint8Array.of(VERSION), this.#primary.id, nonce, new Uint8Array(sealed))
  }

  /** Returns what to decrypt, and how; `null` if the blob is not under one of the keys. */
  #findSealed(binding: Bytes, blob: Uint8Array, subkeys: readonly CryptoKey[]): Sealed | null {
    if (blob.length < HEADER_BYTES + TAG_BYTES || blob[0] !== VERSION) return null
    const isOf = ({ id }: OuterKey) => id.every((byte, at) => byte === blob[1 + at])
    const subkey = subkeys[this.#keys.findIndex(isOf)]
    if (!subkey) return null
    return {
      parameters: gcm(copyToUnshared(blob.subarray(1 + KEY_ID_BYTES, HEADER_BYTES)), binding),
      subkey,
      ciphertext: copyToUnshared(blob.subarray(HEADER_BYTES)),
    }
  }

  /** Returns a subkey of each key, in their order. */
  #subkeysOf(saltId: string, column: string): Promise<CryptoKey[]> {
    return Promise.all(this.#keys.map((key) => this.#subkey(key, saltId, column)))
  }

  #subkey(key: OuterKey, saltId: string, column: string): Promise<CryptoKey> {
    const name = `${key.id.toHex()} ${column} ${saltId}`
    const known = this.#subkeys.get(name)
    if (known) return known
    const subkey = deriveSubkey(key, uuidToBytes(saltId), column)
    this.#subkeys.set(name, subkey)
    return subkey
  }
}

function importBase(key: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key, 'HKDF', false, ['deriveKey'])
}

async function deriveSubkey(key: OuterKey, salt: Bytes, column: string): Promise<CryptoKey> {
  const info = lp('cloakroom/v1/outer', column)
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info },
    await key.base,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

/**
 * Web Crypto decrypts in a thread that sleeps when idle, and waking it costs several times as much as a small message.
 * So it gets many messages without a pause in between.
 */
function decrypt(sealed: Sealed | null): Promise<Uint8Array | null> | null {
  if (!sealed) return null
  const { parameters, subkey, ciphertext } = sealed
  return crypto.subtle.decrypt(parameters, subkey, ciphertext).then(bytesOf, returnNull)
}

const bytesOf = (plaintext: ArrayBuffer) => new Uint8Array(plaintext)
const returnNull = () => null

/** The additional data of rows of one column: of many the UUIDs are the same, and each is read once. */
function bindingOf(column: Place['column']): (row: readonly OuterPart[]) => Bytes {
  const first = utf8(column)
  const uuids = new Map<string, Bytes>()
  const fieldOf = (part: OuterPart): Bytes | string => {
    if ('text' in part) return part.text
    if ('u32' in part) return u32be(part.u32)
    const known = uuids.get(part.uuid) ?? uuidToBytes(part.uuid)
    uuids.set(part.uuid, known)
    return known
  }
  return (row) => lp(first, ...row.map(fieldOf))
}

function gcm(iv: Bytes, additionalData: Bytes): AesGcmParams {
  return { name: 'AES-GCM', iv, additionalData, tagLength: TAG_BYTES * 8 }
}

// Copies the bytes: Web Crypto accepts no shared memory, which the general type allows.
function copyToUnshared(bytes: Uint8Array): Bytes {
  return isUnshared(bytes) ? bytes : new Uint8Array(bytes)
}

function isUnshared(bytes: Uint8Array): bytes is Bytes {
  return bytes.buffer instanceof ArrayBuffer
}
