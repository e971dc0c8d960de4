/** The secrets that a delivery omits, with the code of the reason (protocol 13.5 and 14.1). */
import { isSealedHeld, type SealedSecret } from '../../core/crypto/secret_value.ts'
import type { FaultCode } from '../../core/fault.ts'

/** The named ones that are not delivered, and all that need an approval. */
export function buildMissingParts(
  names: readonly string[],
  secrets: readonly SealedSecret[],
  ...known: readonly object[]
): Record<string, FaultCode> {
  const held = buildHeldParts(secrets)
  const isKnown = (name: string) => [held, ...known].some((parts) => Object.hasOwn(parts, name))
  const unknown = names.filter((name) => !isKnown(name))
  return { ...held, ...Object.fromEntries(unknown.map((name) => [name, 'unknown_secret'])) }
}

/** Names and reason of the secrets that no token opens. */
export function buildHeldParts(secrets: readonly SealedSecret[]): Record<string, FaultCode> {
  const held = secrets.filter(isSealedHeld)
  return Object.fromEntries(held.map(({ key }) => [key, 'approval_required']))
}
