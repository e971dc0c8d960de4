/** The values of roots and states that must never reach a token that may use the secret (protocol 13.4). */
import { fromBase64Url, fromUtf8, utf8 } from '../core/crypto/encoding.ts'
import type { DerivedKind } from '../core/policy/policy.ts'
import { checkRoot, type Root, readRoot } from './root.ts'
import { type DerivedState, valuesOf } from './state.ts'

const JSON_WEB_TOKEN = /^([\w-]+)\.[\w-]+\.([\w-]{8,})$/

/** `until` is when the value may be forgotten, in Unix milliseconds; null while it is in use. */
type Guarded = { bytes: Uint8Array; until: number | null }

/** The secret values of a plaintext. One that is no root derives nothing, and is guarded as a whole. */
export function listGuardedInPlaintext(kind: DerivedKind, plaintext: Uint8Array): Uint8Array[] {
  if (checkRoot(kind, plaintext).length > 0) return [plaintext]
  return listGuardedInRoot(readRoot(kind, plaintext, ''))
}

/** The secret values of a root. `grant_type` is a word of the protocol and not guarded. */
export function listGuardedInRoot(root: Root): Uint8Array[] {
  const values = [...new Set(secretsOf(root))]
  return values.flatMap((value) => (value === null ? [] : [utf8(value)]))
}

function secretsOf(root: Root): (string | null)[] {
  if (root.kind === 'github_app') return [root.privateKey]
  if (root.kind === 'aws_role') return [root.secretAccessKey, root.externalId]
  const { grant_type: _, ...parameters } = root.parameters
  return [root.clientSecret, root.privateKey, root.refreshToken, ...Object.values(parameters)]
}

/** The whole state: credential, refresh token, and the values that were replaced. */
export function listGuardedInState(state: DerivedState): Guarded[] {
  const current = [...valuesOf(state.credential), state.refresh_token].filter((it) => it !== null)
  const all = [...current.map((value) => ({ value, until: null })), ...state.guarded]
  return all.map(({ value, until }) => ({ bytes: utf8(secretPart(value)), until }))
}

/** Clients read and repeat the first two parts of a JSON Web Token; without the third they are worth nothing. */
function secretPart(value: string): string {
  const [, header = '', signature = value] = JSON_WEB_TOKEN.exec(value) ?? []
  return isHeader(header) ? signature : value
}

function isHeader(part: string): boolean {
  try {
    const header = JSON.parse(fromUtf8(fromBase64Url(part) ?? new Uint8Array()) ?? '')
    return typeof header?.alg === 'string'
  } catch {
    return false
  }
}
