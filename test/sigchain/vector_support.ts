/** How a vector of protocol-v2.json is verified, by its `kind`. */
import { z } from 'zod'
import { fromBase64 } from '../../src/core/crypto/encoding.ts'
import { sha256 } from '../../src/core/crypto/primitives.ts'
import {
  type Chain,
  hashOf,
  replay,
  requireBinding,
  requireContinues,
  requireKeyProof,
  type SignedText,
  verifyEnvelope,
  verifyGrant,
  verifyManifest,
} from '../../src/sigchain/index.ts'
import vectors from '../vectors/protocol-v2.json'

export const workspaceId = vectors.chain.workspace_id
export const links: readonly SignedText[] = vectors.chain.links
export const bytes = (text: string) => fromBase64(text) ?? new Uint8Array(0)

/** Rows by the hash of the stored data, in the form that a manifest covers. */
export function hashesOf(values: Record<string, string>) {
  return new Map(Object.entries(values).map(([name, value]) => [name, sha256(bytes(value))]))
}

const signedText = z.object({ statement: z.string(), signature: z.string() })
const onChain = { links: z.number().default(links.length), added: z.array(signedText).default([]) }
const keys = z.object({ signing_key: z.string(), public_key: z.string() })

/** The steps for a vector, by its `kind`; `added` is its `then`. */
const vector = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('chain'), from: z.number(), added: z.array(signedText) }),
  z.object({
    kind: z.literal('continuation'),
    seen: z.number(),
    from: z.number(),
    added: z.array(signedText),
  }),
  z.object({
    kind: z.literal('grant'),
    signed: signedText,
    expected: z.object({
      token_id: z.string(),
      public_key: z.string().optional(),
      now: z.string().default('2026-11-22T12:00:00.000Z'),
    }),
    ...onChain,
  }),
  z.object({
    kind: z.literal('envelope'),
    signed: signedText,
    entry: z.object({
      token_id: z.string(),
      project_id: z.string(),
      environment: z.string(),
      epoch: z.number(),
      envelope: z.string(),
    }),
    ...onChain,
  }),
  z.object({
    kind: z.literal('manifest'),
    signed: signedText,
    expected: z.object({
      project_id: z.string(),
      environment: z.string(),
      rows: z.record(z.string(), z.string()),
      seen: z.object({ revision: z.number(), root: z.string() }).optional(),
    }),
    ...onChain,
  }),
  z.object({
    kind: z.literal('binding'),
    token_id: z.string(),
    secret: z.string(),
    first_text: z.string(),
    binding: z.string(),
  }),
  z.object({
    kind: z.literal('identity'),
    given: keys.extend({ email: z.string(), key_proof: z.string() }),
  }),
])

type Vector = z.output<typeof vector>
type Of<K extends Vector['kind']> = Extract<Vector, { kind: K }>

/** @throws Refusal */
export function verifyVector({ then: added, ...rest }: { then?: unknown }): Promise<unknown> {
  const read = vector.parse({ ...rest, added })
  switch (read.kind) {
    case 'chain':
      return chainOf(read.from, read.added)
    case 'continuation':
      return verifyContinuation(read)
    case 'grant':
      return grantOf(read)
    case 'envelope':
      return envelopeOf(read)
    case 'manifest':
      return manifestOf(read)
    case 'binding':
      return bindingOf(read)
    case 'identity':
      return requireKeyProof(read.given, read.given.email, read.given.key_proof)
  }
}

function chainOf(from: number, added: readonly SignedText[]): Promise<Chain> {
  return replay(workspaceId, [...links.slice(0, from), ...added])
}

async function verifyContinuation({ seen, from, added }: Of<'continuation'>): Promise<void> {
  const before = await chainOf(seen, [])
  requireContinues(await chainOf(from, added), before)
}

async function grantOf({ signed, expected, links: from, added }: Of<'grant'>) {
  const { token_id: id, public_key: publicKey, now } = expected
  const token = publicKey === undefined ? { id } : { id, publicKey }
  return verifyGrant(await chainOf(from, added), signed, token, new Date(now))
}

async function envelopeOf({ signed, entry, links: from, added }: Of<'envelope'>) {
  return verifyEnvelope(await chainOf(from, added), signed, {
    tokenId: entry.token_id,
    projectId: entry.project_id,
    environment: entry.environment,
    epoch: entry.epoch,
    envelope: bytes(entry.envelope),
  })
}

async function manifestOf({ signed, expected, links: from, added }: Of<'manifest'>) {
  return verifyManifest(await chainOf(from, added), signed, {
    projectId: expected.project_id,
    environment: expected.environment,
    rows: hashesOf(expected.rows),
    seen: expected.seen,
  })
}

async function bindingOf({ token_id: id, secret, first_text, binding }: Of<'binding'>) {
  const token = { id, secret: Uint8Array.fromHex(secret) }
  return requireBinding(token, await hashOf(first_text), binding)
}
