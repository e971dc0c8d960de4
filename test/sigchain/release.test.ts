// tier: quick
/** Releases of held secrets (protocol 14.3): their form, and the signers who count. */
import { describe, expect, test } from 'bun:test'
import {
  type HeldRelease,
  hashOf,
  identityOf,
  Refusal,
  readText,
  replay,
  signText,
  verifyRelease,
} from '../../src/sigchain/index.ts'
import vectors from '../vectors/approvals-v3.json'
import v2 from '../vectors/protocol-v2.json'
import { links, workspaceId } from './vector_support.ts'

const release = readText('release', vectors.release.statement)
const window = readText('release', vectors.window.statement)
const [secret] = release.secrets

async function keyOf(name: string, seed?: string): Promise<CryptoKey> {
  const account = v2.accounts.find((person) => person.name === name)
  return (await identityOf(Uint8Array.fromHex(seed ?? account?.seed ?? ''))).signingKey
}

/** Signs as a person with the given newest link. */
async function signBy(name: string, headSeq: number, seed?: string, change: object = {}) {
  const signer = v2.accounts.find((person) => person.name === name)?.user_id ?? ''
  const head = await hashOf(links[headSeq - 1]?.statement ?? '')
  return signText('release', { ...release, signer, head, ...change }, await keyOf(name, seed))
}

async function reasonFor(work: Promise<unknown>): Promise<string | null> {
  const error = await work.then(() => null).catch((refusal: unknown) => refusal)
  if (error === null) return null
  expect(error).toBeInstanceOf(Refusal)
  return (error as Refusal).reason
}

test("the vectors' releases verify, and their signer signs the same bytes again", async () => {
  const chain = await replay(workspaceId, links)
  for (const by of ['member', 'admin'] as const) {
    expect(await verifyRelease(chain, vectors.release, by)).toEqual(release)
    expect(await verifyRelease(chain, vectors.window, by)).toEqual(window)
  }
  const key = await keyOf('bob')
  expect(await signText('release', release, key)).toEqual(vectors.release)
  expect(await signText('release', window, key)).toEqual(vectors.window)
})

describe('a release counts by its signer', () => {
  const rotated = v2.carol_after_rotation.seed
  test.each([
    ['an owner may release what needs an admin', 'alice', 10, undefined, 'admin', null],
    ['an admin may release what needs an admin', 'bob', 2, undefined, 'admin', null],
    ['a member may not release what needs an admin', 'carol', 6, rotated, 'admin', 'right'],
    ['a member may release what needs a member', 'carol', 6, rotated, 'member', null],
    ['a key from before a rotation signs nothing', 'carol', 6, undefined, 'member', 'signature'],
    ['a new key signs nothing for earlier links', 'carol', 5, rotated, 'member', 'right'],
    ['a reader who became a member signs for later links', 'dave', 10, undefined, 'member', null],
    [
      'a reader releases nothing, not even as a later member',
      'dave',
      9,
      undefined,
      'member',
      'right',
    ],
    ['a removed admin releases nothing', 'erin', 8, undefined, 'member', 'signer'],
    ['a stranger releases nothing', 'mallory', 10, undefined, 'member', 'signer'],
  ] as const)('%s', async (_, name, headSeq, seed, by, reason) => {
    const chain = await replay(workspaceId, links)
    const signed = await signBy(name, headSeq, seed)
    expect(await reasonFor(verifyRelease(chain, signed, by))).toBe(reason)
  })
})

test('a release of another workspace, of an unknown link or of another kind is rejected', async () => {
  const chain = await replay(workspaceId, links)
  const other = { workspace_id: '01920000-0000-8000-8000-000000000101' }
  const foreign = await signBy('bob', 10, undefined, other)
  expect(await reasonFor(verifyRelease(chain, foreign, 'member'))).toBe('workspace')
  const unknown = await signBy('bob', 10, undefined, { head: release.digest })
  expect(await reasonFor(verifyRelease(chain, unknown, 'member'))).toBe('head')
  const [link] = links
  if (!link) throw new Error('no link')
  expect(await reasonFor(verifyRelease(chain, link, 'member'))).toBe('form')
})

test('a release with another character in its text or signature is rejected', async () => {
  const chain = await replay(workspaceId, links)
  for (const field of ['statement', 'signature'] as const) {
    const text = vectors.window[field]
    for (let at = 0; at < text.length; at += 3) {
      const other = text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1)
      const signed = { ...vectors.window, [field]: other }
      expect(await reasonFor(verifyRelease(chain, signed, 'member'))).not.toBeNull()
    }
  }
})

describe('a release of this form is rejected', () => {
  const many = Array.from({ length: 17 }, (_, at) => ({
    ...secret,
    key: `KEY_${String(at).padStart(2, '0')}`,
  }))
  const scopeWith = (change: object) => ({ scope: { ...window.scope, ...change } })
  test.each<[string, object]>([
    ['version 2', { v: 2 }],
    ['no secrets', { secrets: [] }],
    ['17 secrets', { secrets: many }],
    ['a secret twice', { secrets: [secret, secret] }],
    ['secrets out of order', { secrets: many.slice(0, 2).reverse() }],
    ['a token of a plain workspace', { token_id: release.approval_id }],
    ['an approval without UUID', { approval_id: '1' }],
    ['a wildcard host', scopeWith({ host: '*.stripe.com' })],
    ['a host in upper case', scopeWith({ host: 'API.stripe.com' })],
    ['a host with port 443', scopeWith({ host: 'api.stripe.com:443' })],
    ['no methods', scopeWith({ methods: [] })],
    ['a method twice', scopeWith({ methods: ['GET', 'GET'] })],
    ['an unknown method', scopeWith({ methods: ['TRACE'] })],
    ['a relative path', scopeWith({ path_prefix: 'v1' })],
    ['a path with a query', scopeWith({ path_prefix: '/v1?a' })],
    ['a path with dots', scopeWith({ path_prefix: '/v1/../v2' })],
    ['a path with escaped dots', scopeWith({ path_prefix: '/v1/%2E./v2' })],
    ['a path with a broken escape', scopeWith({ path_prefix: '/v1/%zz' })],
    ['a path that is not normalised', scopeWith({ path_prefix: '/v1\\x' })],
    ['a scope with a field too many', scopeWith({ query: '' })],
    ['a time that does not exist', { expires_at: '2026-02-30T00:00:00.000Z' }],
  ])('%s', async (_, change) => {
    const text = { ...window, ...change } as HeldRelease
    await expect(signText('release', text, await keyOf('bob'))).rejects.toMatchObject({
      reason: 'form',
    })
  })
})

test('a release takes 16 secrets and a host with a port', async () => {
  const secrets = Array.from({ length: 16 }, (_, at) => ({
    ...secret,
    key: `KEY_${String(at).padStart(2, '0')}`,
  }))
  const scope = { ...window.scope, host: 'api.stripe.com:8443', path_prefix: '/' }
  const signed = await signBy('bob', 10, undefined, { secrets, scope })
  const chain = await replay(workspaceId, links)
  expect(await verifyRelease(chain, signed, 'admin')).toMatchObject({ secrets, scope })
})
