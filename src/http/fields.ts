/**
 * Fields that several contracts share, each with the example that the documentation shows of it. A field
 * of one contract carries its own: `.meta({ examples: […] })`.
 */
import { z } from 'zod'
import { isSoundPoint } from '../core/crypto/ed25519.ts'
import { fromBase64 } from '../core/crypto/encoding.ts'
import { isLowOrder } from '../core/crypto/low_order.ts'
import { roles } from '../core/grant.ts'
import { parseDomain } from '../core/net/domain.ts'
import { unfilledPlaces } from '../core/policy/unfilled.ts'
import { base64, environmentName, line, uuid } from '../core/validation/validate.ts'

/** An id as the documentation shows it; `last` differs by the kind of thing. */
export function exampleId(last: number): string {
  return `018f3c5e-7d2a-7c31-9b0e-${String(last).padStart(12, '0')}`
}

/** The id of a kind of thing, with its own example. */
function idOf(last: number) {
  return uuid.meta({ examples: [exampleId(last)] })
}

export const workspaceId = idOf(1)
export const projectId = idOf(2)
export const userId = idOf(3)
export const registrationId = idOf(4)
export const tokenId = idOf(5)
export const sessionId = idOf(6)
export const recordId = idOf(7)
export const passkeyId = idOf(9)
export const approvalId = idOf(10)
export const proposalId = idOf(11)
/** An ID without a specific kind, such as the ID of the returned item. */
export const id = idOf(8)

/** The meta of an optional field for special cases: examples of the whole leave it out. */
export const rarelyNeeded = { examples: [] }

/** The role of a person in a workspace. */
export const role = z.enum(roles).meta({ examples: ['member'] })

export const environment = environmentName.meta({ examples: ['production'] })

/** A host in the syntax of the allowlist, in its canonical form (protocol 5.2). */
export const allowedHost = z
  .string()
  .max(300)
  .meta({ examples: ['api.stripe.com'] })
  .transform((text, context) => {
    const parsed = parseDomain(text)
    if (parsed) return parsed.text
    context.addIssue({
      code: 'custom',
      message: 'must be a host name such as api.example.com, *.example.com or api.example.com:8443',
    })
    return z.NEVER
  })

/** Text of a result, as it may look. */
export function text(example: string) {
  return z.string().meta({ examples: [example] })
}

/** A whole number of a result, as it may look. */
export function integer(example: number) {
  return z
    .number()
    .int()
    .meta({ examples: [example] })
}

/** Canonical base64 of so many bytes, for examples; a list begins with the bytes that it names. */
export function exampleBytes(count: number, ...head: number[]): string {
  return Uint8Array.from([...head, ...Array(count - head.length).fill(0x5a)]).toBase64()
}

/** The forms of protocol 3, as examples. */
export const exampleOfForm = {
  publicKey: exampleBytes(32),
  signingKey: exampleBytes(32, 0x5b),
  keyProof: exampleBytes(64),
  wrappedKey: exampleBytes(61, 1),
  envelope: exampleBytes(81, 1),
  sealedValue: exampleBytes(45, 1, 0, 0, 0, 1),
}

/** An X25519 public key that something will be sealed to. */
export const publicKey = base64(32, 32)
  .refine((text) => {
    const bytes = fromBase64(text)
    return bytes?.length !== 32 || !isLowOrder(bytes)
  }, 'must not be of low order')
  .meta({ examples: [exampleOfForm.publicKey] })

/** An Ed25519 public key that signatures will be checked with. */
export const signingKey = base64(32, 32).refine((text) => {
  const bytes = fromBase64(text)
  return bytes?.length !== 32 || isSoundPoint(bytes)
}, 'must be canonical and not of low order')

/** A text signed by a member of a signed workspace (protocol 12): checked by `sigchain`, as it was sent. */
export const signedText = z
  .strictObject({
    statement: z
      .string()
      .max(65_536)
      .meta({ examples: ['{"v":2}'] }),
    signature: base64(64, 64).meta({ examples: [exampleOfForm.keyProof] }),
  })
  .meta({ id: 'SignedText' })

/** A signed text in results. */
export const shownSignedText = z
  .object({ statement: text('{"v":2}'), signature: text(exampleOfForm.keyProof) })
  .meta({ id: 'ShownSignedText' })

/** A signed text in requests, beside its subject. */
export const statementBeside = {
  statement: signedText.shape.statement.meta(rarelyNeeded).optional(),
  signature: signedText.shape.signature.meta(rarelyNeeded).optional(),
}

/** b64url SHA-256 of a stored ciphertext; in signed workspaces only. */
export const valueHash = z.string().nullable().meta(rarelyNeeded).optional()

/** The public keys of a person in results. */
export const shownKeys = {
  public_key: text(exampleOfForm.publicKey),
  /** Null in an account that was made without one. */
  signing_key: text(exampleOfForm.signingKey).nullable(),
}

/** An example of a token. It is not valid. */
export function exampleToken(kind: 'agt' | 'ses' | 'ref'): string {
  return `svc_${kind}_${'0'.repeat(60)}EXAMPLEtoken`
}

/** A placeholder that was sent as text, and its place. */
export const unfilledPlaceholder = z
  .object({
    name: line(128).meta({ examples: ['STRIPE_API_KEY'] }),
    place: z.enum(unfilledPlaces).meta({ examples: ['query'] }),
  })
  .meta({ id: 'UnfilledPlaceholder' })

/** The body of a request without fields. */
export const emptyBody = z.strictObject({}).meta({ id: 'Nothing' })
