/** Rows of the world that have a special change, and other rows to copy from. */
import { API, type Stage } from '../support/agent.ts'
import { signedId } from '../support/signed.ts'
import type { RowsOf } from './tampering_changes.ts'
import { REMOVED, type World } from './tampering_world.ts'

export function rowsOf(
  { authorityOf }: Stage,
  { target, neighbour, plain }: World,
): Record<string, RowsOf> {
  const { workspaceId: workspace_id, projectId, agent, ended, workload, helper } = target
  const of = (id: string) => `workspace_id = '${id}'`
  const ours = of(workspace_id)
  const theirs = of(neighbour.workspaceId)
  const is = (id: string) => `id = '${id}'`
  const inDevelopment = (id: string) => `project_id = '${id}' and environment = 'development'`
  const secret = (id: string, name: string) => `${inDevelopment(id)} and key = '${name}'`
  const version = (id: string, number: number) =>
    `secret_id = (select id from saved.secrets where ${secret(id, 'KEY')}) and version = ${number}`
  const token = ({ id }: { id: string }) => `token_id = '${id}'`
  const allowed = (host: string) => `domain = '${authorityOf(host)}'`
  const fresh = { id: Bun.randomUUIDv7(), workspace_id }
  const policy = `'{"allowed_locations": ["header"]}'`
  return {
    workspaces: {
      used: [is(workspace_id)],
      other: is(plain.workspaceId),
      foreign: is(neighbour.workspaceId),
      key: ['id'],
      inserted: { id: signedId() },
      made: { name: `'other'`, epoch: '7', rekey_required: 'true' },
    },
    memberships: {
      used: [`${ours} and user_id = '${helper.userId}'`],
      other: `${ours} and user_id = '${target.owner.userId}'`,
      foreign: `${theirs} and user_id = '${neighbour.owner.userId}'`,
      key: ['id', 'workspace_id', 'user_id'],
      inserted: fresh,
      made: { status: `'invited'` },
    },
    allowlist_entries: {
      used: [`${ours} and ${allowed(API)}`],
      other: `${of(plain.workspaceId)} and ${allowed(API)}`,
      foreign: `${theirs} and ${allowed(REMOVED)}`,
      key: ['id', 'workspace_id'],
      inserted: fresh,
    },
    projects: {
      used: [is(projectId)],
      other: is(target.otherProject),
      foreign: is(neighbour.projectId),
      key: ['id', 'workspace_id'],
      inserted: fresh,
      made: { name: `'another'`, description: `'another'`, environments: `'{production}'` },
    },
    secrets: {
      used: ['KEY', 'OTHER'].map((name) => secret(projectId, name)),
      all: inDevelopment(projectId),
      other: secret(projectId, 'OTHER'),
      foreign: secret(neighbour.projectId, 'KEY'),
      key: ['id', 'workspace_id', 'project_id', 'environment', 'key'],
      inserted: { ...fresh, project_id: projectId, key: 'MORE' },
      made: { environment: `'production'`, policy, version: '7' },
    },
    secret_versions: {
      used: [version(projectId, 1)],
      other: version(projectId, 2),
      foreign: version(neighbour.projectId, 1),
      key: ['secret_id', 'version'],
      inserted: { version: 9 },
      made: { policy, version: '7' },
    },
    agents: {
      used: [is(agent.agentId)],
      other: is(ended.agentId),
      foreign: is(neighbour.agent.agentId),
      key: ['id', 'workspace_id'],
      inserted: fresh,
      made: { deleted_at: 'now()' },
    },
    tokens: {
      used: [is(agent.id), is(ended.id), is(workload.id)],
      other: is(workload.id),
      foreign: is(neighbour.agent.id),
      key: ['id', 'workspace_id'],
      inserted: { id: signedId(), workspace_id },
      made: {
        capabilities: `'["use", "read"]'`,
        hosts: `'["other.example"]'`,
        secrets: `'["OTHER"]'`,
        limits: `'{"calls_per_day": 1}'`,
        expires_in_days: '7',
        expires_at: 'now()',
        revoked_at: 'now()',
        last_used_at: 'now()',
      },
    },
    token_envelopes: {
      used: [token(agent)],
      other: token(workload),
      foreign: token(neighbour.agent),
      key: ['token_id', 'workspace_id', 'project_id', 'environment'],
      inserted: { workspace_id, token_id: agent.id, environment: 'production' },
      made: { environment: `'production'`, epoch: '7' },
    },
    token_grants: {
      used: [token(agent)],
      other: token(workload),
      foreign: token(neighbour.agent),
      key: ['token_id', 'workspace_id'],
      inserted: { workspace_id, token_id: signedId() },
    },
    manifests: {
      used: [inDevelopment(projectId)],
      other: `project_id = '${projectId}' and environment = 'staging'`,
      foreign: inDevelopment(neighbour.projectId),
      key: ['workspace_id', 'project_id', 'environment'],
      inserted: { workspace_id, environment: 'production' },
      made: { environment: `'production'` },
    },
    workspace_links: {
      used: [1, 3, 6].map((seq) => `${ours} and seq = ${seq}`),
      all: ours,
      other: `${ours} and seq = 4`,
      foreign: `${theirs} and seq = 3`,
      key: ['workspace_id', 'seq'],
      inserted: { workspace_id, seq: 7 },
      made: { seq: '99' },
    },
    users: {
      used: [is(helper.userId)],
      other: is(target.owner.userId),
      foreign: is(neighbour.owner.userId),
      key: ['id'],
      inserted: { id: fresh.id, email: 'one-more@people.example' },
      made: {
        first_name: `'another'`,
        last_name: `'another'`,
        kdf: `'{}'`,
        is_instance_owner: 'true',
        terms_agreed_at: 'now()',
      },
    },
  }
}
