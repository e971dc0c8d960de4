// tier: quick
/** Every field of the vectors that come with the protocol: other implementations agree on these. */
import { describe, expect, test } from 'bun:test'
import canonicalize from 'canonicalize'
import { authKey, userKey } from '../../../src/client/account/keys.ts'
import {
  concat,
  fromBase64,
  fromBase64Url,
  lp,
  toBase64,
  u32be,
  utf8,
  uuidToBytes,
} from '../../../src/core/crypto/encoding.ts'
import { OuterLayer } from '../../../src/core/crypto/outer_layer.ts'
import { hkdf, openGcm, sealGcm, x25519PublicKey } from '../../../src/core/crypto/primitives.ts'
import {
  environmentKey,
  openSecretValue,
  policyHash,
  readValueEpoch,
  sealSecretValue,
} from '../../../src/core/crypto/secret_value.ts'
import {
  deriveVerifier,
  formatSealedToken,
  formatToken,
  parseToken,
  tokenAuth,
  tokenKeyPair,
  verifierOf,
} from '../../../src/core/crypto/token.ts'
import vectors from '../../vectors/protocol-v1.json'
import { referenceSeal } from './hpke_reference.ts'
import { type Fields, hex, openVector, rowOf } from './vector_support.ts'

const { secret_value: secret, token, member_envelope, token_envelope, outer_layer } = vectors
const place = { projectId: secret.project_id, environment: secret.environment, key: secret.key }

describe('length prefix', () => {
  test('the length prefix of a text, an epoch and a UUID matches its vector', () => {
    const [text, epoch, uuid] = vectors.length_prefix
    expect(lp(text?.input ?? '').toHex()).toBe(text?.output ?? 'missing')
    expect(lp(u32be(epoch?.input_epoch ?? 0)).toHex()).toBe(epoch?.output ?? 'missing')
    expect(lp(uuidToBytes(uuid?.input_uuid ?? '')).toHex()).toBe(uuid?.output ?? 'missing')
    expect(vectors.length_prefix).toHaveLength(3)
  })
})

describe('policy hash', () => {
  for (const { policy, jcs, sha256 } of vectors.policy_hash) {
    test(`the policy hash of ${jcs} matches its vector`, () => {
      expect(canonicalize(policy)).toBe(jcs)
      expect(policyHash(policy).toHex()).toBe(sha256)
    })
  }
})

test('the account keys match their vectors', () => {
  const masterKey = hex(vectors.account_keys.master_key)
  expect(authKey(masterKey)).toBe(vectors.account_keys.auth_key_b64url)
  expect(userKey(masterKey).toHex()).toBe(vectors.account_keys.user_key)
})

test('the environment key matches its vector', () => {
  const { workspace_key, project_id, environment, epoch, output } = vectors.environment_key
  expect(environmentKey(hex(workspace_key), project_id, environment, epoch).toHex()).toBe(output)
})

describe('a secret value', () => {
  const key = hex(secret.environment_key)

  test('a secret value is sealed to the given bytes, with and without policy', () => {
    const nonce = hex(secret.nonce)
    const seal = (policy: unknown) =>
      toBase64(sealSecretValue(key, place, policy, secret.epoch, utf8(secret.plaintext), nonce))
    expect(seal(secret.policy)).toBe(secret.value)
    expect(seal(null)).toBe(secret.value_without_policy)
    expect(seal(undefined)).toBe(secret.value_without_policy)
  })

  test('a secret value opens to the plaintext and announces its epoch', () => {
    const value = fromBase64(secret.value) ?? new Uint8Array()
    const opened = openSecretValue(key, place, secret.policy, value)
    expect(new TextDecoder().decode(opened?.reveal())).toBe(secret.plaintext)
    expect(readValueEpoch(value)).toBe(secret.epoch)
    const plain = fromBase64(secret.value_without_policy) ?? new Uint8Array()
    const other = openSecretValue(key, place, null, plain)
    expect(new TextDecoder().decode(other?.reveal())).toBe(secret.plaintext)
  })

  test('a secret value binds exactly the given additional data', () => {
    const sealed = (fromBase64(secret.value) ?? new Uint8Array()).subarray(17)
    const plaintext = openGcm(key, hex(secret.nonce), hex(secret.additional_data), sealed)
    expect(new TextDecoder().decode(plaintext ?? undefined)).toBe(secret.plaintext)
  })
})

describe('token', () => {
  const raw = hex(token.secret)

  test('a token is written and read in all given kinds', () => {
    expect(formatToken('agt', token.token_id, raw)).toBe(token.agent_token)
    expect(formatToken('wkl', token.token_id, raw)).toBe(token.workload_token)
    const agent = { kind: 'agt', id: token.token_id, secret: raw } as const
    expect(parseToken(token.agent_token)).toEqual(agent)
    expect(parseToken(token.workload_token)).toEqual({ ...agent, kind: 'wkl' })
  })

  test('a token derives its keys for authentication and decryption', () => {
    expect(tokenAuth(token.token_id, raw).toHex()).toBe(token.token_auth)
    expect(toBase64(verifierOf(hex(token.token_auth)))).toBe(token.verifier_b64)
    const pair = tokenKeyPair(token.token_id, raw)
    expect(pair.privateKey.toHex()).toBe(token.token_private_key)
    expect(toBase64(pair.publicKey)).toBe(token.public_key_b64)
  })

  test('a token has a sealed form that the same verifier recognises', () => {
    expect(formatSealedToken(token.token_id, raw)).toBe(token.sealed_token)
    const sealed = parseToken(token.sealed_token)
    expect(sealed?.secret.toHex()).toBe(token.token_auth)
    expect(sealed && toBase64(deriveVerifier(sealed))).toBe(token.verifier_b64)
  })
})

describe('envelope', () => {
  test("a member's envelope is sealed to the given bytes and opens", async () => {
    const envelope = member_envelope
    const publicKey = x25519PublicKey(hex(envelope.recipient_private_key))
    expect(publicKey.toHex()).toBe(envelope.recipient_public_key)
    expect(sealedWith('cloakroom/v1/member-envelope', publicKey, envelope)).toBe(envelope.envelope)
    const opened = await openVector({
      ...envelope,
      kind: 'member_envelope',
      value: envelope.envelope,
      private_key: envelope.recipient_private_key,
      public_key: envelope.recipient_public_key,
    })
    expect(opened).toEqual(hex(envelope.plaintext))
  })

  test("a token's envelope is sealed to the given bytes and opens", async () => {
    const envelope = token_envelope
    const publicKey = fromBase64(token.public_key_b64) ?? new Uint8Array()
    expect(sealedWith('cloakroom/v1/token-envelope', publicKey, envelope)).toBe(envelope.envelope)
    const opened = await openVector({ ...hostileBase('token_envelope'), value: envelope.envelope })
    expect(opened).toEqual(hex(envelope.plaintext))
  })
})

describe('outer layer', () => {
  const subkey = hex(outer_layer.subkey)
  const inner = fromBase64(secret.value) ?? new Uint8Array()

  test('the outer layer names its key and opens the stored blob', async () => {
    const layer = OuterLayer.parse(outer_layer.encryption_key_b64url)
    expect(layer.primaryKeyId).toBe(outer_layer.key_id)
    const opened = await layer.open(
      'secrets.value',
      outer_layer.salt_workspace_id,
      rowOf('secrets.value', outer_layer.row),
      hex(outer_layer.stored),
    )
    expect(opened).toEqual(inner)
  })

  test('the outer layer has the given sub-key and additional data', () => {
    const salt = uuidToBytes(outer_layer.salt_workspace_id)
    const info = concat(lp('cloakroom/v1/outer'), lp(outer_layer.column))
    const key = fromBase64Url(outer_layer.encryption_key_b64url) ?? new Uint8Array()
    expect(hkdf(key, salt, info)).toEqual(Uint8Array.from(subkey))
    const nonce = hex(outer_layer.nonce)
    const sealed = sealGcm(subkey, nonce, hex(outer_layer.additional_data), inner)
    const stored = concat(Uint8Array.of(1), hex(outer_layer.key_id), nonce, sealed)
    expect(stored.toHex()).toBe(outer_layer.stored)
  })
})

describe('hostile', () => {
  for (const { name, kind, value, with: replaced } of vectors.hostile) {
    test(`the outer layer rejects ${name}`, async () => {
      expect(await openVector({ ...hostileBase(kind), ...replaced, kind, value })).toBeNull()
    })
  }

  test('each kind opens unchanged, so that a failed opening means something', async () => {
    const good = {
      secret: secret.value,
      token: token.agent_token,
      token_envelope: token_envelope.envelope,
      outer: outer_layer.stored,
    }
    for (const [kind, value] of Object.entries(good)) {
      expect(await openVector({ ...hostileBase(kind), value })).not.toBeNull()
    }
    expect(new Set(vectors.hostile.map(({ kind }) => kind))).toEqual(new Set(Object.keys(good)))
  })
})

function hostileBase(kind: string): Fields & { kind: string } {
  if (kind === 'secret') return { ...secret, kind }
  if (kind === 'token_envelope') {
    return { ...token_envelope, private_key: token.token_private_key, kind }
  }
  if (kind !== 'outer') return { kind }
  return {
    ...outer_layer.row,
    version: 1,
    column: outer_layer.column,
    salt: outer_layer.salt_workspace_id,
    encryption_key: outer_layer.encryption_key_b64url,
    kind,
  }
}

type EnvelopeVector = { ephemeral_private_key: string; additional_data: string; plaintext: string }

function sealedWith(label: string, recipientPublicKey: Uint8Array, envelope: EnvelopeVector) {
  const { enc, ciphertext } = referenceSeal({
    ephemeralPrivateKey: hex(envelope.ephemeral_private_key),
    recipientPublicKey,
    info: utf8(label),
    additionalData: hex(envelope.additional_data),
    plaintext: hex(envelope.plaintext),
    aead: 2,
  })
  return toBase64(concat(Uint8Array.of(1), enc, ciphertext))
}
