import type { Chain, Link } from '../../sigchain/index.ts'

export type Named = { id: string; name: string }

/** Something that a person should hear. */
export type ChainNotices = {
  /** Its first link is believed: nothing was known of the workspace. */
  met(workspace: Named, first: string): void
  rekeyed(workspace: Named, epoch: number): void
  /** It goes on after what was known, to the link of that number; `links` follow `before`. */
  went?(workspace: Named, links: readonly Link[], before: Chain, known: number): void
}
