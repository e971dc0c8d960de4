/** The examples of the protocol page, as the implementation computes them from the test vectors. */
import canonicalize from 'canonicalize'
import { wrapSeed } from '../../src/client/account/account_seed.ts'
import { authKey, userKey } from '../../src/client/account/keys.ts'
import {
  type Bytes,
  concat,
  fromBase64,
  fromBase64Url,
  lp,
  toBase64,
  u32be,
  utf8,
  uuidToBytes,
} from '../../src/core/crypto/encoding.ts'
import { openTokenEnvelope } from '../../src/core/crypto/envelope.ts'
import { OuterLayer, secretRow } from '../../src/core/crypto/outer_layer.ts'
import { Pepper } from '../../src/core/crypto/pepper.ts'
import { hkdf, sealGcm } from '../../src/core/crypto/primitives.ts'
import { environmentKey, policyHash, sealSecretValue } from '../../src/core/crypto/secret_value.ts'
import {
  formatSealedToken,
  formatToken,
  tokenAuth,
  tokenKeyPair,
  verifierOf,
} from '../../src/core/crypto/token.ts'
import { parseDomain } from '../../src/core/net/domain.ts'
import { policyPathMatches } from '../../src/core/policy/path.ts'
import { resolveReferences } from '../../src/core/policy/references.ts'
import { identityFingerprint, identityOf, proveKeys } from '../../src/sigchain/index.ts'
import { referenceSeal } from '../core/crypto/hpke_reference.ts'
import peppers from '../vectors/pepper.json'
import vectors from '../vectors/protocol-v1.json'
import signed from '../vectors/protocol-v2.json'

type Examples = Record<string, string>

const NONE = new Uint8Array()
const hex = (text: string): Bytes => Uint8Array.fromHex(text)
const decode = (text: string): Bytes => fromBase64(text) ?? NONE

/** By section of the page, and by the label of the line. */
export async function computeExamples(): Promise<Record<string, Examples>> {
  return {
    '3': lengthPrefixes(),
    '3.1': await accountKeys(),
    '3.2': tokenEnvelope(),
    '3.3': secretValue(),
    '3.4': await outerLayer(),
    '3.5': references(),
    '4': tokens(),
    '4.1': storedVerifiers(),
    '5.2': domains(),
    '5.5': paths(),
  }
}

function lengthPrefixes(): Examples {
  const [text, epoch, uuid] = vectors.length_prefix
  const id = uuid?.input_uuid ?? ''
  return {
    [`lp("${text?.input}")`]: lp(text?.input ?? '').toHex(),
    [`lp(epoch ${epoch?.input_epoch})`]: lp(u32be(epoch?.input_epoch ?? 0)).toHex(),
    [`lp(${id})`]: lp(uuidToBytes(id)).toHex(),
  }
}

async function accountKeys(): Promise<Examples> {
  const { master_key: MK } = vectors.account_keys
  const [alice] = signed.accounts
  if (!alice) throw new Error('the vectors have no account')
  const { seed, email: address } = alice
  const { nonce } = signed.account_seed
  const identity = await identityOf(hex(seed))
  const key = userKey(hex(MK))
  return {
    ...{ MK, authKey: authKey(hex(MK)), userKey: key.toHex(), seed, address, nonce },
    signing_key: identity.signing_key,
    public_key: identity.public_key,
    key_proof: await proveKeys(identity, address),
    encrypted_private_key: wrapSeed(key, 'account', hex(seed), identity, hex(nonce)),
    fingerprint: await identityFingerprint(identity),
  }
}

/** Real envelopes have a random ephemeral key, so the reference seals this one and the implementation opens it. */
function tokenEnvelope(): Examples {
  const { token, token_envelope: given } = vectors
  const { workspace_id, token_id, project_id, environment, epoch } = given
  const ids = [workspace_id, token_id, project_id].map(uuidToBytes)
  const recipient = tokenKeyPair(token_id, hex(token.secret))
  const { enc, ciphertext } = referenceSeal({
    ephemeralPrivateKey: hex(given.ephemeral_private_key),
    recipientPublicKey: recipient.publicKey,
    info: utf8('cloakroom/v1/token-envelope'),
    additionalData: lp(...ids, environment, u32be(epoch)),
    plaintext: hex(given.plaintext),
    aead: 2,
  })
  const envelope = concat(Uint8Array.of(1), enc, ciphertext)
  const place = {
    ...{ workspaceId: workspace_id, tokenId: token_id, projectId: project_id },
    ...{ environment, epoch },
  }
  const opened = openTokenEnvelope(place, recipient.privateKey, envelope)
  return {
    'ephemeral private key': given.ephemeral_private_key,
    ...{ workspace_id, token_id, project_id, environment, epoch: String(epoch) },
    'environment key': opened?.toHex() ?? '',
    recipient: toBase64(recipient.publicKey),
    'token envelope': toBase64(envelope),
  }
}

function secretValue(): Examples {
  const { project_id, key, policy, epoch, nonce, plaintext, environment } = vectors.secret_value
  const { workspace_key } = vectors.environment_key
  const sealing = environmentKey(hex(workspace_key), project_id, environment, epoch)
  const place = { projectId: project_id, environment, key }
  const sealed = sealSecretValue(sealing, place, policy, epoch, utf8(plaintext), hex(nonce))
  return {
    'workspace key': workspace_key,
    'environment key': sealing.toHex(),
    key,
    'JCS(policy)': canonicalize(policy) ?? '',
    'SHA-256': policyHash(policy).toHex(),
    ...{ nonce, plaintext, ciphertext: toBase64(sealed) },
  }
}

async function outerLayer(): Promise<Examples> {
  const { encryption_key_b64url, column, salt_workspace_id: salt, row, nonce } = vectors.outer_layer
  const layer = OuterLayer.parse(encryption_key_b64url)
  const raw = fromBase64Url(encryption_key_b64url) ?? NONE
  const subkey = hkdf(raw, uuidToBytes(salt), lp('cloakroom/v1/outer', column))
  const data = lp(column, uuidToBytes(row.project_id), row.environment, row.key)
  const bytes = decode(vectors.secret_value.value)
  const id = hex(layer.primaryKeyId)
  const stored = concat(Uint8Array.of(1), id, hex(nonce), sealGcm(subkey, hex(nonce), data, bytes))
  const place = secretRow({ ...row, projectId: row.project_id })
  const opened = await layer.open('secrets.value', salt, place, stored)
  return {
    ENCRYPTION_KEY: encryption_key_b64url,
    'key id': layer.primaryKeyId,
    ...{ column, subkey: subkey.toHex(), 'additional data': data.toHex(), nonce },
    bytes: toBase64(opened ?? NONE),
    stored: stored.toHex(),
  }
}

function references(): Examples {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: references look like templates
  const values = ['${NAME}', '$${NAME}', '$$${NAME}', '$NAME', '${A:-x}']
  return Object.fromEntries(values.map((value) => [value, resolve(value)]))
}

function resolve(value: string): string {
  const entries = new Map([
    ['NAME', { value: 'abc', policy: null }],
    ['MARKED', { value, policy: { references: true } }],
  ])
  try {
    return resolveReferences(entries, ['MARKED']).get('MARKED')?.value ?? ''
  } catch {
    return 'an error'
  }
}

function tokens(): Examples {
  const { token_id: id, secret } = vectors.token
  const raw = hex(secret)
  const pair = tokenKeyPair(id, raw)
  return {
    ...{ id, secret },
    agent: formatToken('agt', id, raw),
    workload: formatToken('wkl', id, raw),
    sealed: formatSealedToken(id, raw),
    tokenAuth: tokenAuth(id, raw).toHex(),
    verifier: toBase64(verifierOf(tokenAuth(id, raw))),
    tokenKey: pair.privateKey.toHex(),
    'public half': toBase64(pair.publicKey),
  }
}

function storedVerifiers(): Examples {
  const [vector] = peppers.vectors
  const [token] = vector?.tokens ?? []
  const [person] = vector?.passwords ?? []
  if (!vector || !token || !person) throw new Error('the vectors of the pepper are incomplete')
  const pepper = Pepper.parse(vector.secret_key)
  const identity = { kind: 'agt', id: token.token_id, ownerId: token.owner_id } as const
  return {
    SECRET_KEY: vector.secret_key,
    pepper: hkdf(utf8(vector.secret_key), NONE, 'cloakroom/v2/token-pepper').toHex(),
    'key id': pepper.keyIds[0],
    'token id': token.token_id,
    owner: token.owner_id,
    verifier: token.verifier,
    'stored, agt': pepper.sealVerifier(identity, hex(token.verifier)).toHex(),
    'user id': person.user_id,
    password: person.password,
    'Argon2id input': pepper.pepperPassword(person.user_id, person.password),
  }
}

function domains(): Examples {
  const accepted = [
    'API.Example.com.',
    '*.example.com:8443',
    'api.example.com:443',
    'bücher.example',
  ]
  const given = [...accepted, 'https://api.example.com', '0x7f.1', '*.github.io']
  return Object.fromEntries(given.map((text) => [text, parseDomain(text)?.text ?? 'refused']))
}

function paths(): Examples {
  const given = ['/v1 /v1', '/v1 /v1/x', '/v1 /v10', '/v1 /v1/%2e%2e/x', '/v1/ /v1']
  const matches = ([prefix = '', path = '']: string[]) => policyPathMatches(prefix, path)
  return Object.fromEntries(given.map((pair) => [pair, matches(pair.split(' ')) ? 'match' : 'no']))
}
