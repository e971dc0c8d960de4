/**
 * Ended grants and envelopes that an administrator signed. They are as invalid as forged ones, but do not indicate
 * tampering.
 */
import { type Reason, Refusal } from './refusal.ts'
import { requireSignature, type SignedText } from './signed_text.ts'
import { type Chain, periodAt } from './state.ts'
import { isAdmin, readStatement } from './statements.ts'
import type { TextOf } from './texts.ts'

/** `granter`: the administrator who signed it was removed, demoted or got new keys. */
export type End = 'revoked' | 'expired' | 'granter' | 'epoch'

const ENDS: Partial<Record<Reason, End>> = {
  signer: 'granter',
  right: 'granter',
  signature: 'granter',
  revoked: 'revoked',
  expired: 'expired',
  epoch: 'epoch',
}

/**
 * Returns why a refused statement ended, with its text; null if its signature is invalid. `isMeant` checks that the
 * text is about the object it was shown for.
 */
export async function endOf<K extends 'grant' | 'envelope'>(
  kind: K,
  chain: Chain,
  signed: SignedText,
  { refusal, isMeant }: { refusal: Refusal; isMeant: (text: TextOf<K>) => boolean },
): Promise<{ end: End; text: TextOf<K> } | null> {
  const end = ENDS[refusal.reason]
  if (end === undefined) return null
  try {
    const { text, headSeq } = readStatement(chain, kind, signed)
    const period = periodAt(chain, text.signer, headSeq)
    if (period === null || !isAdmin(period, period.signingKey) || !isMeant(text)) return null
    await requireSignature(kind, signed, period.signingKey)
    return { end, text }
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
