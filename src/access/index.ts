/** What resolver and delivery share: tokens, snapshots, opened keys, and one rate per token over both. */
import type postgres from 'postgres'
import type { AuditTrail } from '../audit/trail.ts'
import { RateLimiter } from '../database/limits/rate.ts'
import type { FeatureServices } from '../http/services.ts'
import { openReadCredentials, type ReadCredentials } from './credentials.ts'
import { type DescribeToken, openDescribeToken } from './description.ts'
import { KeyCache } from './keys.ts'
import { type DecideLocked, openDecideLocked } from './locked_decision.ts'
import { openReader } from './reader.ts'
import { ChainCache } from './signed/chains.ts'
import type { Refusals } from './signed/refusals.ts'
import { SeenStates } from './signed/seen_states.ts'
import { Verifier } from './signed/verifier.ts'
import { SnapshotCache } from './snapshots/snapshots.ts'
import { TokenCache } from './tokens.ts'

export type Access = {
  tokens: TokenCache
  snapshots: SnapshotCache
  keys: KeyCache
  chains: ChainCache
  /** What of signed workspaces did not verify. */
  refusals: Refusals
  /** RATE_TOKEN, by token id. */
  limiter: RateLimiter
  trail: AuditTrail
  decideLocked: DecideLocked
  readCredentials: ReadCredentials
  describeToken: DescribeToken
}

/** Drops what is known of a workspace, or of all: the next request reads anew, and keys are wiped. */
export function forgetWorkspace({ tokens, snapshots, keys }: Access, workspaceId?: string): void {
  tokens.forget(workspaceId)
  keys.forget(workspaceId === undefined ? '' : `${workspaceId}/`)
  if (workspaceId === undefined) snapshots.forgetAll()
  else snapshots.forget(workspaceId)
}

export function openAccess(
  { config, clock, outer, pepper, live, log }: Omit<FeatureServices, 'db'>,
  { sql, trail }: { sql: postgres.Sql; trail: AuditTrail },
): Access {
  const reader = openReader(sql)
  const chains = new ChainCache(new SeenStates({ file: config.SIGNED_STATE_FILE, log, clock }))
  const verifier = new Verifier({ chains, log, clock })
  return {
    tokens: new TokenCache(reader, clock, pepper),
    snapshots: new SnapshotCache(reader, outer, verifier),
    keys: new KeyCache(config.KEY_CACHE_SECONDS, clock),
    chains,
    refusals: verifier.refusals,
    limiter: new RateLimiter(config.RATE_TOKEN, clock, live.resolvers),
    trail,
    decideLocked: openDecideLocked({ sql, trail, outer, verifier }),
    readCredentials: openReadCredentials(reader),
    describeToken: openDescribeToken(reader),
  }
}
