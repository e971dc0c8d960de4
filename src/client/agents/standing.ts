/**
 * Whether a token's grant is valid. An ended or missing grant does not indicate tampering. Only a forged one raises an
 * alarm.
 */
import {
  type Chain,
  type End,
  endOf,
  Refusal,
  type SignedText,
  type TokenGrant,
  verifyGrant,
} from '../../sigchain/index.ts'

export type ListedToken = { id: string; public_key: string; grant?: SignedText | null | undefined }

export type Standing =
  | { is: 'granted'; grant: TokenGrant }
  | { is: 'ended'; grant: TokenGrant; end: End }
  | { is: 'ungranted' }

/** @throws Refusal for a grant that no administrator signed for this token */
export async function standingOf(
  chain: Chain,
  { id, public_key: publicKey, grant: signed }: ListedToken,
): Promise<Standing> {
  if (!signed) return { is: 'ungranted' }
  try {
    return { is: 'granted', grant: await verifyGrant(chain, signed, { id, publicKey }, new Date()) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const isMeant = (text: TokenGrant) => text.token_id === id && text.public_key === publicKey
    const over = await endOf('grant', chain, signed, { refusal: error, isMeant })
    if (over === null) throw error
    return { is: 'ended', grant: over.text, end: over.end }
  }
}

const REASONS: Readonly<Record<End, string>> = {
  revoked: 'it was revoked',
  expired: 'it expired',
  granter: 'the admin who granted it was removed, was demoted, or has new keys',
  epoch: 'the workspace key was replaced',
}

export function reasonOfEnd(end: End): string {
  return REASONS[end]
}

/** An unusable token without tampering. */
export class EndedToken extends Error {
  override readonly name = 'EndedToken'

  constructor(label: string, standing: Exclude<Standing, { is: 'granted' }>) {
    super(
      standing.is === 'ended'
        ? `the token ${label} ended: ${reasonOfEnd(standing.end)}`
        : `the token ${label} has no signed grant`,
    )
  }
}
