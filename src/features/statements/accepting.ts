/** Rules for every statement of a member (protocol 12.2). */
import { Fault } from '../../core/fault.ts'
import { isSignedId, Refusal, type SignedText } from '../../sigchain/index.ts'

/**
 * The signed text in a signed workspace; `null` in others, which must have no signed text.
 *
 * @throws Fault `link_required`, `link_refused`; `path` is its position in the request
 */
export function requireSigned(
  workspaceId: string,
  signed: SignedText | undefined,
  path: string,
): SignedText | null {
  if (!isSignedId(workspaceId)) {
    if (signed) throw buildRefusedFault(path, 'this workspace is not signed: omit it')
    return null
  }
  if (!signed) throw new Fault('link_required', { fields: [{ path, message: 'is missing' }] })
  return signed
}

/**
 * The verified statement, if its sender signed it.
 *
 * @throws Fault `link_refused` with the reason, in words that quote nothing
 */
export async function verifyOrRefuse<T extends { signer: string }>(
  userId: string,
  path: string,
  verify: () => T | Promise<T>,
): Promise<T> {
  try {
    const text = await verify()
    if (text.signer !== userId) throw buildRefusedFault(path, 'it was signed by another account')
    return text
  } catch (error) {
    throw error instanceof Refusal ? buildRefusedFault(path, error.message) : error
  }
}

export function buildRefusedFault(path: string, message: string): Fault {
  return new Fault('link_refused', { fields: [{ path, message }] })
}
