/** The statements that fill snapshots. Each also reads the policy version that its rows are of. */
import type { DerivedRow, SecretPlace } from '../../core/crypto/secret_value.ts'
import type { Policy } from '../../core/policy/policy.ts'
import type { AccessReader } from '../reader.ts'
import type { StoredText } from '../signed/queries.ts'

/** A row as it is read: `sealed` is the ciphertext in the outer layer. */
export type SecretRow = SecretPlace & {
  policy: Policy | null
  sealed: Uint8Array
  /** Null without a row; its state is in `sealedState`. */
  derived: Omit<DerivedRow, 'state'> | null
  sealedState: Uint8Array | null
}

/** A left join: one row without a secret where it is missing. */
type Joined<T> = (T & { version: number })[]

type WorkspaceRow = { version: number; epoch: number; domains: string[]; hasReleases: boolean }

export function readWorkspace(read: AccessReader, workspaceId: string): Promise<WorkspaceRow[]> {
  return read<WorkspaceRow[]>`
    select w.policy_version::float8 as version, w.epoch,
      (select coalesce(json_agg(domain), '[]') from allowlist_entries a where a.workspace_id = w.id)
        as domains,
      exists (select from approvals a where a.workspace_id = w.id and a.envelopes is not null) as "hasReleases"
    from workspaces w where w.id = ${workspaceId}`
}

/**
 * Reads secrets by name from all projects. `kind` is searched in the policy's text, because PostgreSQL cannot parse
 * JSON that contains U+0000, which policies may contain.
 */
export function readStoredSecrets(
  read: AccessReader,
  workspaceId: string,
  environment: string,
  names: readonly string[],
): Promise<Joined<SecretRow>> {
  return read<Joined<SecretRow>>`
    select w.policy_version::float8 as version, s.project_id as "projectId", s.environment, s.key, s.policy, s.value as sealed,
      case when d.generation is not null then json_build_object('generation', d.generation, 'isFinal', d.is_final,
        'failedCode', d.failed_code, 'expiresAt', extract(epoch from d.expires_at) * 1000,
        'failedAt', extract(epoch from d.failed_at) * 1000, 'retryAt', extract(epoch from d.retry_at) * 1000) end as derived,
      d.state as "sealedState"
    from workspaces w left join secrets s
      on s.workspace_id = w.id and s.environment = ${environment} and s.key in
        (select json_array_elements_text(${JSON.stringify(names)}::text::json))
      left join derived_states d on d.workspace_id = s.workspace_id and d.project_id = s.project_id
        and d.environment = s.environment and d.key = s.key and s.policy::text like '%"kind"%'
    where w.id = ${workspaceId}`
}

type PlaceableRow = SecretPlace & { policy: Policy | null }

/** Reads secrets of all projects with policies that list locations, searched in the text as `kind` is above. */
export function readPlaceable(
  read: AccessReader,
  workspaceId: string,
  environment: string,
): Promise<Joined<PlaceableRow>> {
  return read<Joined<PlaceableRow>>`
    select w.policy_version::float8 as version, s.project_id as "projectId", s.environment, s.key, s.policy
    from workspaces w left join secrets s on s.workspace_id = w.id and s.environment = ${environment}
      and s.policy::text like '%"allowed_locations"%'
    where w.id = ${workspaceId}`
}

/** `project` is null for one that is not of this workspace. */
export function readPlaceSecrets(
  read: AccessReader,
  workspaceId: string,
  projectId: string,
  environment: string,
): Promise<Joined<SecretRow & { project: string | null }>> {
  return read<Joined<SecretRow & { project: string | null }>>`
    select w.policy_version::float8 as version, p.id as project,
      s.project_id as "projectId", s.environment, s.key, s.policy, s.value as sealed,
      case when d.generation is not null then json_build_object('generation', d.generation, 'isFinal', d.is_final,
        'failedCode', d.failed_code, 'expiresAt', extract(epoch from d.expires_at) * 1000,
        'failedAt', extract(epoch from d.failed_at) * 1000, 'retryAt', extract(epoch from d.retry_at) * 1000) end as derived,
      d.state as "sealedState"
    from workspaces w
      left join projects p on p.workspace_id = w.id and p.id = ${projectId}
      left join secrets s on s.workspace_id = w.id and s.project_id = p.id and s.environment = ${environment}
      left join derived_states d on d.workspace_id = s.workspace_id and d.project_id = s.project_id
        and d.environment = s.environment and d.key = s.key and s.policy::text like '%"kind"%'
    where w.id = ${workspaceId} order by s.key`
}

type EnvelopeRow = StoredText & { version: number; epoch: number | null; envelope: Uint8Array }

export function readEnvelope(
  read: AccessReader,
  workspaceId: string,
  tokenId: string,
  projectId: string,
  environment: string,
): Promise<EnvelopeRow[]> {
  return read<EnvelopeRow[]>`
    select w.policy_version::float8 as version, e.epoch, e.envelope, e.statement, e.signature
    from workspaces w left join token_envelopes e on e.workspace_id = w.id and e.token_id = ${tokenId}
      and e.project_id = ${projectId} and e.environment = ${environment}
    where w.id = ${workspaceId}`
}

type GrantRow = { version: number; projectId: string | null; environment: string }

export function readGrants(
  read: AccessReader,
  workspaceId: string,
  tokenId: string,
): Promise<GrantRow[]> {
  return read<GrantRow[]>`
    select w.policy_version::float8 as version, e.project_id as "projectId", e.environment
    from workspaces w left join token_envelopes e on e.workspace_id = w.id and e.token_id = ${tokenId}
    where w.id = ${workspaceId}`
}
