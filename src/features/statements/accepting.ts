/** What every statement of a member is held to, whatever it speaks of (protocol 12.2). */
import { Fault } from '../../core/fault.ts'
import { isSignedId, Refusal, type SignedText } from '../../sigchain/index.ts'

/**
 * What was signed, where the workspace is signed; `null` in others, where nothing may be.
 *
 * @throws Fault `link_required`, `link_refused`; `path` is where it stands, or should, in the request
 */
export function requireSigned(
  workspaceId: string,
  signed: SignedText | undefined,
  path: string,
): SignedText | null {
  if (!isSignedId(workspaceId)) {
    if (signed) throw refused(path, 'this workspace is not signed: omit it')
    return null
  }
  if (!signed) throw new Fault('link_required', { fields: [{ path, message: 'is missing' }] })
  return signed
}

/**
 * What was verified, if it was signed by who sends it.
 *
 * @throws Fault `link_refused` with the reason, in words that quote nothing
 */
export async function accepted<T extends { signer: string }>(
  userId: string,
  path: string,
  verify: () => T | Promise<T>,
): Promise<T> {
  try {
    const text = await verify()
    if (text.signer !== userId) throw refused(path, 'it was signed by another account')
    return text
  } catch (error) {
    throw error instanceof Refusal ? refused(path, error.message) : error
  }
}

export function refused(path: string, message: string): Fault {
  return new Fault('link_refused', { fields: [{ path, message }] })
}
