/**
 * Giving a token the keys of environments: an envelope that the token's own key opens, made by an
 * admin who holds the workspace key. The server checks where it belongs and cannot open it.
 */
import { fromBase64 } from '../../platform/crypto/encoding.ts'
import type { OuterLayer } from '../../platform/crypto/outer_layer.ts'
import { Fault, type FieldFault } from '../../platform/fault.ts'
import type { Grant } from '../../platform/grant.ts'
import { aboutToken } from '../../platform/http/recorder.ts'
import type { Changing } from '../../platform/http/route.ts'
import type { TokenEnvelope } from './shapes.ts'
import { mergeEnvelopes, type NewEnvelope, selectProjects } from './token_queries.ts'

type Manage = Grant<'agent.manage'>

/** The scope of a token: `null` stands for the whole workspace, or for every environment. */
export type ScopedToken = {
  id: string
  label: string
  agent: { id: string; name: string } | null
  projectId: string | null
  environment: string | null
}

type Envelopes = {
  list: readonly TokenEnvelope[]
  /** Where the list stands in the request, with a dot at the end; empty for the body itself. */
  path: string
  /** The workspace's, read under its lock. */
  epoch: number
}

/**
 * Stores the envelopes under the outer layer.
 *
 * @throws Fault `not_found` (a project of elsewhere), `validation_error` (outside the token's
 * scope), `epoch_conflict`
 */
export async function provision(
  { tx, grant, audit }: Changing<Manage>,
  outer: OuterLayer,
  token: ScopedToken,
  { list, path, epoch }: Envelopes,
): Promise<void> {
  if (list.length === 0) return
  const projectIds = new Set(list.map(({ project_id }) => project_id))
  const known = await selectProjects(tx, grant, [...projectIds])
  if (known.size < projectIds.size) throw new Fault('not_found')
  const outside = list.flatMap((envelope, index) =>
    outsideScope(token, envelope, `${path}${index}`),
  )
  if (outside.length > 0) throw new Fault('validation_error', { fields: outside })
  const stale = list.flatMap((envelope, index) =>
    envelope.epoch === epoch
      ? []
      : [{ path: `${path}${index}.epoch`, message: 'is not the current epoch' }],
  )
  if (stale.length > 0) throw new Fault('epoch_conflict', { fields: stale })
  const sealed = await Promise.all(list.map((envelope) => seal(outer, grant, token.id, envelope)))
  await mergeEnvelopes(tx, grant, token.id, sealed)
  audit.record(
    ...list.map(({ project_id, environment }) => ({
      action: 'token.provisioned' as const,
      ...aboutToken(token, token.agent),
      projectId: project_id,
      environment,
    })),
  )
}

function outsideScope(
  token: ScopedToken,
  { project_id, environment }: TokenEnvelope,
  path: string,
): FieldFault[] {
  const message = 'is outside the scope of the token'
  const faults: FieldFault[] = []
  if (token.projectId !== null && token.projectId !== project_id) {
    faults.push({ path: `${path}.project_id`, message })
  }
  if (token.environment !== null && token.environment !== environment) {
    faults.push({ path: `${path}.environment`, message })
  }
  return faults
}

async function seal(
  outer: OuterLayer,
  { workspaceId }: Manage,
  tokenId: string,
  { envelope, ...place }: TokenEnvelope,
): Promise<NewEnvelope> {
  const raw = fromBase64(envelope)
  if (!raw) throw new TypeError('an envelope was not validated')
  const row = [{ uuid: tokenId }, { uuid: place.project_id }, { text: place.environment }]
  return { ...place, sealed: await outer.seal('token_envelopes.envelope', workspaceId, row, raw) }
}
