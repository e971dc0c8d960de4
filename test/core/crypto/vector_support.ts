/**
 * Reads vectors for tests: a flat record of named inputs, and one function that tries to open a value of any kind
 * with them. A hostile vector is a valid record with some replaced fields.
 */
import { unwrapForRecovery, unwrapPrivateKey } from '../../../src/client/account/keys.ts'
import { fromBase64, fromBase64Url } from '../../../src/core/crypto/encoding.ts'
import { openMemberEnvelope, openTokenEnvelope } from '../../../src/core/crypto/envelope.ts'
import {
  type OuterColumn,
  OuterLayer,
  type OuterPart,
} from '../../../src/core/crypto/outer_layer.ts'
import { openSecretValue, readValueEpoch } from '../../../src/core/crypto/secret_value.ts'
import { parseToken } from '../../../src/core/crypto/token.ts'

export type Fields = { readonly [name: string]: unknown }

export type Vector = { kind: string; value: string } & Fields

export function hex(text: string): Uint8Array {
  return Uint8Array.fromHex(text)
}

/** The opened vector, or `null` if the vector is rejected. */
export async function openVector(vector: Vector): Promise<unknown> {
  switch (vector.kind) {
    case 'secret':
      return openSecret(vector)
    case 'token':
      return parseToken(vector.value)
    case 'token_envelope':
      return openToken(vector)
    case 'member_envelope':
      return openMember(vector)
    case 'outer':
      return openOuter(vector)
    case 'private_key':
      return unwrapPrivateKey(bytesOf(vector, 'user_key'), vector.value, publicKeyOf(vector))
    case 'recovery':
      return unwrapForRecovery(bytesOf(vector, 'recovery_key'), vector.value, publicKeyOf(vector))
    case 'base64':
      return fromBase64(vector.value)
    case 'base64url':
      return fromBase64Url(vector.value)
    case 'encryption_key':
      return parseKeys(vector.value)
    default:
      throw new Error(`no such kind: ${vector.kind}`)
  }
}

function openSecret(vector: Vector): Uint8Array | null {
  const value = fromBase64(vector.value)
  if (value === null) return null
  // The caller compares the header with the epoch of the key, like the resolver.
  if ('epoch' in vector && readValueEpoch(value) !== vector.epoch) return null
  const place = {
    projectId: textOf(vector, 'project_id'),
    environment: textOf(vector, 'environment'),
    key: textOf(vector, 'key'),
  }
  const key = bytesOf(vector, 'environment_key')
  return openSecretValue(key, place, vector.policy, value)?.reveal() ?? null
}

async function openToken(vector: Vector): Promise<Uint8Array | null> {
  const place = {
    workspaceId: textOf(vector, 'workspace_id'),
    tokenId: textOf(vector, 'token_id'),
    projectId: textOf(vector, 'project_id'),
    environment: textOf(vector, 'environment'),
    epoch: numberOf(vector, 'epoch'),
  }
  const envelope = fromBase64(vector.value)
  return envelope && openTokenEnvelope(place, bytesOf(vector, 'private_key'), envelope)
}

async function openMember(vector: Vector): Promise<Uint8Array | null> {
  const place = {
    workspaceId: textOf(vector, 'workspace_id'),
    recipientPublicKey: publicKeyOf(vector),
    epoch: numberOf(vector, 'epoch'),
  }
  return openMemberEnvelope(place, bytesOf(vector, 'private_key'), vector.value)
}

async function openOuter(vector: Vector): Promise<Uint8Array | null> {
  const column = columnOf(vector)
  const layer = OuterLayer.parse(textOf(vector, 'encryption_key'))
  return layer.open(column, textOf(vector, 'salt'), rowOf(column, vector), hex(vector.value))
}

function parseKeys(text: string): OuterLayer | null {
  try {
    return OuterLayer.parse(text)
  } catch {
    return null
  }
}

/** The row identity that protocol 3.4 lists for a column. */
export function rowOf(column: OuterColumn, fields: Fields): OuterPart[] {
  const uuid = (name: string) => ({ uuid: textOf(fields, name) })
  const text = (name: string) => ({ text: textOf(fields, name) })
  switch (column) {
    case 'secrets.value':
    case 'derived.state':
      return [uuid('project_id'), text('environment'), text('key')]
    case 'approvals.details':
    case 'approvals.envelopes':
      return [uuid('approval_id')]
    case 'notice_targets.secret':
      return [uuid('target_id')]
    case 'secret_versions.value':
      return [
        uuid('project_id'),
        text('environment'),
        text('key'),
        { u32: numberOf(fields, 'version') },
      ]
    case 'memberships.encrypted_workspace_key':
      return [uuid('workspace_id'), uuid('user_id')]
    case 'token_envelopes.envelope':
      return [uuid('token_id'), uuid('project_id'), text('environment')]
    case 'users.encrypted_private_key':
    case 'users.recovery_private_key':
      return [uuid('user_id')]
    case 'passkeys.encrypted_seed':
      return [uuid('user_id'), text('rp_id'), text('credential_id')]
  }
}

export const OUTER_COLUMNS = [
  'secrets.value',
  'secret_versions.value',
  'memberships.encrypted_workspace_key',
  'token_envelopes.envelope',
  'users.encrypted_private_key',
  'users.recovery_private_key',
] as const satisfies readonly OuterColumn[]

function columnOf(fields: Fields): OuterColumn {
  const column = OUTER_COLUMNS.find((name) => name === fields.column)
  if (!column) throw new Error('the vector names no column')
  return column
}

function publicKeyOf(fields: Fields): Uint8Array {
  return bytesOf(fields, 'public_key')
}

function bytesOf(fields: Fields, name: string): Uint8Array {
  return hex(textOf(fields, name))
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string') throw new Error(`the vector has no text ${name}`)
  return value
}

function numberOf(fields: Fields, name: string): number {
  const value = fields[name]
  if (typeof value !== 'number') throw new Error(`the vector has no number ${name}`)
  return value
}
