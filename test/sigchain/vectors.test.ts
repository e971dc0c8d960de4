// tier: quick
/** Every vector that comes with the protocol: other implementations agree on these. */
import { describe, expect, test } from 'bun:test'
import { toBase64Url } from '../../src/core/crypto/encoding.ts'
import { keyCommitment } from '../../src/core/crypto/key_commitment.ts'
import { hkdf } from '../../src/core/crypto/primitives.ts'
import { formatToken, tokenKeyPair } from '../../src/core/crypto/token.ts'
import {
  type Chain,
  emptyChain,
  extend,
  identityFingerprint,
  identityOf,
  makeBinding,
  manifestRoot,
  proveKeys,
  Refusal,
  readFirstHash,
  replay,
  signLink,
} from '../../src/sigchain/index.ts'
import vectors from '../vectors/protocol-v2.json'
import { hashesOf, links, verifyVector, workspaceId } from './vector_support.ts'

const { accounts, token, rows } = vectors
const hex = (text: string) => Uint8Array.fromHex(text)
const NONE = new Uint8Array(0)

describe('outputs', () => {
  test.each(accounts)('the identity of $name equals the vector', async (account) => {
    const seed = hex(account.seed)
    const identity = await identityOf(seed)
    expect(hkdf(seed, NONE, 'cloakroom/v2/account-ed25519').toHex()).toBe(
      account.ed25519_private_key,
    )
    expect(identity.privateKey.toHex()).toBe(account.x25519_private_key)
    expect(identity.signing_key).toBe(account.signing_key)
    expect(identity.public_key).toBe(account.public_key)
    expect(await proveKeys(identity, account.email)).toBe(account.key_proof)
    expect(await identityFingerprint(identity)).toBe(account.fingerprint)
  })

  test('the identity after a rotation equals the vector', async () => {
    const { seed, ...keys } = vectors.carol_after_rotation
    expect(await identityOf(hex(seed))).toMatchObject(keys)
  })

  test.each(vectors.key_commitments)(
    'the commitment of epoch $epoch equals the vector',
    (given) => {
      const { workspace_id, epoch, workspace_key, key_commitment } = given
      expect(keyCommitment(workspace_id, epoch, hex(workspace_key))).toBe(key_commitment)
    },
  )

  test.each(vectors.chain.states)('the state after link $seq equals the vector', async (state) => {
    const chain = await replay(workspaceId, links.slice(0, state.seq))
    expect<unknown>(shown(chain)).toEqual(state)
    expect(chain.head).toBe(vectors.chain.hashes[state.seq - 1] ?? 'missing')
  })

  test.each(vectors.chain.links.map((link, at) => ({ ...link, seq: at + 1 })))(
    'link $seq, signed again by its signer',
    async ({ seq, statement, signature }) => {
      const { at, signer, type, body } = JSON.parse(statement)
      const before = await extend(emptyChain(workspaceId), links.slice(0, seq - 1))
      const account = accounts.find(({ user_id }) => user_id === signer)
      const { signingKey } = await identityOf(hex(account?.seed ?? ''))
      expect(await signLink(before, { at, signer, type, body }, signingKey)).toEqual({
        statement,
        signature,
      })
    },
  )

  test('the token and its binding equal the vectors', async () => {
    const secret = hex(token.secret)
    expect(formatToken('agt', token.token_id, secret)).toBe(token.token)
    expect(tokenKeyPair(token.token_id, secret).publicKey.toBase64()).toBe(token.public_key)
    const salt = hex(token.token_id.replaceAll('-', ''))
    expect(hkdf(secret, salt, 'cloakroom/v2/token-binding').toHex()).toBe(token.binding_key)
    const first = readFirstHash(await replay(workspaceId, links))
    expect(first).toBe(vectors.chain.hashes[0] ?? 'missing')
    expect(await makeBinding({ id: token.token_id, secret }, first)).toBe(token.binding)
  })

  test('the root of rows equals the vector', async () => {
    const hashes = hashesOf(rows.values)
    const shown = [...hashes].map(([name, hash]) => [name, toBase64Url(hash)])
    expect(Object.fromEntries(shown)).toEqual(rows.value_sha256)
    expect([...hashes.keys()].sort()).toEqual(rows.order)
    expect(await manifestRoot(hashes)).toBe(rows.root)
    expect(await manifestRoot(new Map())).toBe(rows.root_of_nothing)
  })
})

/** Seeds are opened by clients: test/client/account_seed.test.ts. */
const isOurs = ({ kind }: { kind: string }) => kind !== 'seed'

describe('accepted', () => {
  test('the list has 23 cases', () => expect(vectors.good).toHaveLength(23))

  test.each(vectors.good.filter(isOurs))('$name', async (given) => {
    await verifyVector(given)
  })
})

describe('refused', () => {
  test('the list has 171 cases', () => expect(vectors.hostile).toHaveLength(171))

  test.each(vectors.hostile.filter(isOurs))('$name: $why', async (given) => {
    const refusal = await verifyVector(given).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({ reason: given.reason })
  })
})

function shown(chain: Chain) {
  return {
    seq: chain.seq,
    head: chain.head,
    epoch: chain.epoch,
    key_commitment: chain.keyCommitment,
    allowlist: [...chain.allowlist].sort(),
    revoked: [...chain.revokedTokens].sort(),
    members: [...chain.members.values()].sort((a, b) => (a.user_id < b.user_id ? -1 : 1)),
  }
}
