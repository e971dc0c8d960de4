/**
 * A copy of a delivered environment, for times when the server is unavailable (docs/guides/ci.md). It is sealed under a
 * key derived from the holder's token or account key, and bound to the request. A file that does not open is refused and
 * never replaced. The key is HKDF-SHA256 of the holder's secret with `salt` and the label. The associated data is `lp` of
 * the label, the version, the fields from `holder` to `fetched_at`, the salt, and the members of `seen`.
 */
import { z } from 'zod'
import { lp } from '../../core/crypto/encoding.ts'
import { type Binding, generateSalt, openText, sealText } from '../sealed_text.ts'

/** The reader: the ID of a token, or the public key of an account, with its secret. */
export type Holder = { id: string; secret: Uint8Array }

/** The requested place, as named; empty by default. */
export type Asked = { server: string; workspace: string; project: string; environment: string }

const content = z.record(
  z.string(),
  z.object({
    value: z.string(),
    isSensitive: z.boolean(),
    /** Own values of the person who fetched it, which replace the shared ones. */
    isOwn: z.literal(true).optional(),
  }),
)
/** The verified state of a delivery. It is not secret, and older states are rejected once the server is back. */
const seenDelivery = z.strictObject({
  projectId: z.string(),
  environment: z.string(),
  seq: z.int(),
  head: z.string(),
  revision: z.int(),
  root: z.string(),
  headSeq: z.int().optional(),
})
export type SeenDelivery = z.output<typeof seenDelivery>
export type Kept = {
  values: z.output<typeof content>
  fetchedAt: Date
  seen?: SeenDelivery | undefined
}

/** Why a file is not the fallback of this caller, here. */
export class WrongFallback extends Error {
  override readonly name = 'WrongFallback'
}

const VERSION = 1
const LABEL = 'cloakroom/v1/fallback'
const file = z.strictObject({
  cloakroom_fallback: z.literal(VERSION),
  holder: z.string(),
  server: z.string(),
  workspace: z.string(),
  project: z.string(),
  environment: z.string(),
  fetched_at: z.iso.datetime(),
  /** From a signed workspace. */
  seen: seenDelivery.optional(),
  /** b64 of 32 random bytes: each file has a separate key. */
  salt: z.string(),
  /** b64 of nonce, ciphertext and tag. */
  sealed: z.string(),
})
type FallbackFile = z.output<typeof file>

/** The text of a file. */
export function sealFallback({ id, secret }: Holder, asked: Asked, kept: Kept): string {
  const head = {
    cloakroom_fallback: VERSION,
    holder: id,
    ...asked,
    fetched_at: kept.fetchedAt.toISOString(),
    ...(kept.seen && { seen: kept.seen }),
    salt: generateSalt(),
  } as const
  const sealed = sealText(secret, bindingOf(head), JSON.stringify(kept.values))
  return `${JSON.stringify({ ...head, sealed }, null, 2)}\n`
}

/** @throws WrongFallback */
export function openFallback({ id, secret }: Holder, asked: Asked, text: string): Kept {
  const read = parse(text)
  if (read === null) throw new WrongFallback('is not a fallback file')
  if (read.holder !== id) throw new WrongFallback('was sealed for another token or account')
  const opened = unseal(secret, read)
  if (opened === null) throw new WrongFallback('was altered and cannot be decrypted')
  for (const [name, value] of Object.entries(asked)) {
    const kept = read[name as keyof Asked]
    if (kept !== value) {
      const formatOrNone = (text: string) => text || 'none'
      throw new WrongFallback(
        `belongs to another ${name}: ${formatOrNone(kept)}, not ${formatOrNone(value)}`,
      )
    }
  }
  const { seen } = read
  return { values: opened, fetchedAt: new Date(read.fetched_at), ...(seen && { seen }) }
}

function parse(text: string): FallbackFile | null {
  try {
    return file.parse(JSON.parse(text))
  } catch {
    return null
  }
}

function unseal(secret: Uint8Array, read: FallbackFile): Kept['values'] | null {
  const text = openText(secret, bindingOf(read), read.sealed)
  return text === null ? null : content.parse(JSON.parse(text))
}

/** Binds the ciphertext to all plaintext in the file. */
function bindingOf(head: Omit<FallbackFile, 'sealed'>): Binding {
  const { holder, server, workspace, project, environment, fetched_at, salt, seen } = head
  const version = String(head.cloakroom_fallback)
  const parts = [holder, server, workspace, project, environment, fetched_at, salt]
  if (seen) {
    const { seq, head: link, revision, root, headSeq = '' } = seen
    const manifest = [String(revision), root, String(headSeq)]
    parts.push(seen.projectId, seen.environment, String(seq), link, ...manifest)
  }
  return { label: LABEL, salt, bound: lp(LABEL, version, ...parts) }
}
