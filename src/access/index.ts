/** Services that the resolver and deliveries share: tokens, snapshots, opened keys, and one rate per token for both. */
import type postgres from 'postgres'
import type { AuditTrail } from '../audit/trail.ts'
import type { Capability } from '../core/capability.ts'
import { Fault } from '../core/fault.ts'
import { RateLimiter } from '../database/limits/rate.ts'
import type { FeatureServices } from '../http/services.ts'
import { openReadCredentials, type ReadCredentials } from './credentials.ts'
import { KeyCache } from './keys.ts'
import { type DecideLocked, openDecideLocked } from './locked_decision.ts'
import { type AccessReader, openReader } from './reader.ts'
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
  /** Signed workspaces that failed verification. */
  refusals: Refusals
  /** RATE_TOKEN, by token id. */
  limiter: RateLimiter
  trail: AuditTrail
  decideLocked: DecideLocked
  readCredentials: ReadCredentials
  describeToken: DescribeToken
}

/** Drops a workspace's cached state, or all of it: the next request reads again, and keys are wiped. */
export function forgetWorkspace({ tokens, snapshots, keys }: Access, workspaceId?: string): void {
  tokens.forget(workspaceId)
  keys.forget(workspaceId === undefined ? '' : `${workspaceId}/`)
  snapshots.forget(workspaceId)
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

/** A token's description for its bearer: names and IDs, no keys and no secret names. */
type TokenDescription = {
  kind: 'agent' | 'workload'
  /** The agent's name, or the label of a workload's token. */
  name: string
  label: string
  workspace_id: string
  workspace_name: string
  epoch: number
  project_id: string | null
  project_name: string | null
  environment: string | null
  capabilities: readonly Capability[]
  expires_at: Date | null
  created_at: Date
  provisioned: { project_id: string; project_name: string; environment: string; epoch: number }[]
}

/** @throws Fault `invalid_token` when the token is not live at this moment */
type DescribeToken = (tokenId: string) => Promise<TokenDescription>

function openDescribeToken(read: AccessReader): DescribeToken {
  return async (tokenId) => {
    const [found] = await read<
      (Omit<TokenDescription, 'expires_at' | 'created_at'> & {
        created: number
        expires: number | null
      })[]
    >`
      select t.kind, coalesce(a.name, t.label) as name, t.label, t.workspace_id,
        w.name as workspace_name, w.epoch, t.project_id, p.name as project_name, t.environment,
        t.capabilities, (extract(epoch from t.expires_at) * 1000)::float8 as expires,
        (extract(epoch from t.created_at) * 1000)::float8 as created,
        coalesce((
          select json_agg(json_build_object('project_id', e.project_id, 'project_name', g.name,
              'environment', e.environment, 'epoch', e.epoch) order by g.name, e.environment)
          from token_envelopes e join projects g on g.id = e.project_id
          where e.token_id = t.id and e.workspace_id = t.workspace_id), '[]') as provisioned
      from tokens t join workspaces w on w.id = t.workspace_id
        left join agents a on a.id = t.agent_id
        left join projects p on p.id = t.project_id and p.workspace_id = t.workspace_id
      where t.id = ${tokenId} and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > clock_timestamp())`
    if (!found) throw new Fault('invalid_token')
    const { created, expires, ...described } = found
    const expires_at = expires === null ? null : new Date(expires)
    return { ...described, expires_at, created_at: new Date(created) }
  }
}
