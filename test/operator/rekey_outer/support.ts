/** A server with a value in every column that it seals, and functions that show which key each is under. */

import { parseOuterKeys } from '../../../src/core/crypto/outer_keys.ts'
import { OuterLayer, secretRow } from '../../../src/core/crypto/outer_layer.ts'
import { deleteProject } from '../../../src/features/projects/contract.ts'
import { deleteSecret } from '../../../src/features/secrets/contract.ts'
import { countByKey, countUnder } from '../../../src/operator/rekey_outer/counts.ts'
import { type RekeyResult, rekey } from '../../../src/operator/rekey_outer/rekey.ts'
import { addTo, sealedSeed } from '../../features/passkeys/support.ts'
import { type Agent, createAgentWithToken, openStage, type Stage } from '../../support/agent.ts'
import type { TestApp } from '../../support/app.ts'
import { ORIGIN } from '../../support/authenticator.ts'
import { marked } from '../../support/canary.ts'

const keyOf = (fill: number) => Buffer.alloc(32, fill).toString('base64url')
export const [NEW, OLD, OTHER] = [keyOf(11), keyOf(12), keyOf(13)]
export const idOf = (keys: string) => parseOuterKeys(keys)[0].id
export const BOTH = `${NEW},${OLD}`

export const VALUE = marked('sk_live_rekey_outer')

export type Filled = { stage: Stage; app: TestApp; agent: Agent; env: Record<string, string> }

export async function openFilled(database: Record<string, string> = {}): Promise<Filled> {
  const stage = await openStage({
    env: { ENCRYPTION_KEY: BOTH, PASSKEY_ORIGINS: ORIGIN, RATE_LOGIN: '1000/1', ...database },
  })
  const { app } = stage
  const agent = await createAgentWithToken(stage, {
    secrets: { KEPT: VALUE, GONE: marked('sk_live_gone') },
  })
  for (let version = 2; version <= 3; version += 1)
    await agent.store('GONE', marked(`sk_${version}`))
  const { api } = agent.person
  const params = { project_id: agent.projectId, key: 'GONE' }
  await api.call(deleteSecret, { params, query: { environment: agent.environment } })
  const projectId = await agent.addProject('gone')
  await agent.store('INSIDE', marked('sk_live_inside'), { projectId })
  await api.call(deleteProject, {
    params: { workspace_id: agent.workspaceId, project_name: 'gone' },
  })
  const { workspaceId, projectId: of, environment } = agent
  const place = { workspaceId, projectId: of, environment, key: 'KEPT' }
  const outer = OuterLayer.parse(BOTH)
  const state = await outer.seal('derived.state', workspaceId, secretRow(place), new Uint8Array(40))
  await app.connection
    .sql`insert into derived_states (workspace_id, project_id, environment, key, generation, state)
    values (${workspaceId}, ${of}, ${environment}, 'KEPT', 1, ${state})`
  await addApproval(app, workspaceId, outer)
  await addTo(app, agent.person, { encrypted_seed: sealedSeed() })
  return { stage, app, agent, env: { ...environmentOf(app), ...database } }
}

/** A released request, and a target of notices. */
async function addApproval(app: TestApp, workspaceId: string, outer: OuterLayer): Promise<void> {
  const { sql } = app.connection
  const id = Bun.randomUUIDv7()
  const seal = (column: Parameters<OuterLayer['seal']>[0]) =>
    outer.seal(column, workspaceId, [{ uuid: id }], new Uint8Array(40))
  const [details, envelopes, secret] = [
    await seal('approvals.details'),
    await seal('approvals.envelopes'),
    await seal('notice_targets.secret'),
  ]
  await sql`insert into approvals (id, workspace_id, token_id, agent, digest, host, method, secrets, details, envelopes,
      status, requested_at, expires_at)
    values (${id}, ${workspaceId}, ${id}, 'agent', 'digest', 'h', 'GET', '[]', ${details}, ${envelopes}, 'released',
      now(), now() + interval '10 minutes')`
  await sql`insert into notice_targets (id, workspace_id, type, host, events, secret)
    values (${id}, ${workspaceId}, 'webhook', 'h', '[]', ${secret})`
}

/** The environment with which an operator's command finds the database of the server. */
export function environmentOf({ config }: TestApp): Record<string, string> {
  const { DATA_DIR, DB_HOST, DB_PORT, DB_NAME, DB_USER } = config
  const keys = { ENCRYPTION_KEY: config.ENCRYPTION_KEY, SECRET_KEY: config.SECRET_KEY }
  if (DB_HOST === undefined) return { ...keys, DATA_DIR }
  return { ...keys, DB_HOST, DB_PORT: `${DB_PORT}`, DB_NAME: DB_NAME ?? '', DB_USER: DB_USER ?? '' }
}

/** The state of a rotation in the other direction: everything is under OLD then. */
export async function putUnderOld({ app }: Filled): Promise<RekeyResult> {
  const source = {
    encryptionKey: `${OLD},${NEW}`,
    onProgress: () => {},
    signal: new AbortController().signal,
  }
  return await rekey(
    { sql: app.connection.sql, ...source },
    { batch: 100, pauseMs: 0, dryRun: false },
  )
}

export async function countsOf({ app }: Filled) {
  const rows = await countByKey(app.connection.sql, BOTH)
  const under = (keys: string) => countUnder(rows, (id) => id === idOf(keys))
  return { rows, underNew: under(NEW), underOld: under(OLD) }
}
