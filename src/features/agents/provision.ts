import { Fault, type FieldFault } from '../../core/fault.ts'
import type { Grant } from '../../core/grant.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import { toTokenResource } from '../../http/recorder.ts'
import type { Changing } from '../../http/route.ts'
import type { Chain } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { acceptEnvelope, selectGrant } from '../statements/index.ts'
import { mergeEnvelopes, type NewEnvelope } from './envelope_queries.ts'
import type { TokenEnvelope } from './shapes.ts'
import { holdProjects } from './token_queries.ts'

type Manage = Grant<'agent.manage'>

/** The scope of a token: `null` means the whole workspace, or every environment. */
export type ScopedToken = {
  id: string
  label: string
  agent: { id: string; name: string } | null
  projectId: string | null
  environment: string | null
}

type Envelopes = {
  list: readonly TokenEnvelope[]
  /** The path of the list in the request, with a dot at the end; empty for the body itself. */
  path: string
  /** The workspace's, read under its lock. */
  epoch: number
  /** The same; null in a plain workspace. */
  chain: Chain | null
}

/**
 * Stores the envelopes under the outer layer.
 *
 * @throws Fault `not_found` (a project of elsewhere), `validation_error` (outside the token's
 * scope), `epoch_conflict`; in signed workspaces `link_required`, `link_refused`, `conflict` (no grant yet)
 */
export async function storeEnvelopes(
  { tx, grant, audit }: Changing<Manage>,
  { outer, config }: Pick<SignedServices, 'outer' | 'config'>,
  token: ScopedToken,
  { list, path, epoch, chain }: Envelopes,
): Promise<void> {
  if (list.length === 0) return
  const projectIds = new Set(list.map(({ project_id }) => project_id))
  const known = await holdProjects(tx, grant, [...projectIds])
  if (known.size < projectIds.size) throw new Fault('not_found')
  const outside = list.flatMap((envelope, index) =>
    buildOutsideScopeFault(token, envelope, `${path}${index}`),
  )
  if (outside.length > 0) throw new Fault('validation_error', { fields: outside })
  const stale = list.flatMap((envelope, index) =>
    envelope.epoch === epoch
      ? []
      : [{ path: `${path}${index}.epoch`, message: 'is not the current epoch' }],
  )
  if (stale.length > 0) throw new Fault('epoch_conflict', { fields: stale })
  if (chain && !(await selectGrant(tx, { workspaceId: grant.workspaceId, tokenId: token.id })))
    throw new Fault('conflict', {
      message: 'The token has no grant yet. Add the grant before envelopes.',
    })
  const context = { outer, grant, chain, tokenId: token.id }
  const sealed = await Promise.all(
    list.map((envelope, index) => seal(context, envelope, `${path}${index}`)),
  )
  audit.record(
    ...list.map(({ project_id, environment }) => ({
      action: 'token.provisioned' as const,
      ...toTokenResource(token, token.agent),
      projectId: project_id,
      environment,
    })),
  )
  await Promise.all([
    mergeEnvelopes(tx, grant, token.id, sealed),
    requireQuota(tx, config, 'tokenEnvelopes', token.id),
  ])
}

function buildOutsideScopeFault(
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

type Sealing = Pick<SignedServices, 'outer'> & {
  grant: Manage
  chain: Chain | null
  tokenId: string
}

async function seal(
  { outer, grant: { workspaceId, userId }, chain, tokenId }: Sealing,
  sent: TokenEnvelope,
  path: string,
): Promise<NewEnvelope> {
  const { project_id, environment, epoch } = sent
  const raw = Uint8Array.fromBase64(sent.envelope)
  const statement = await acceptEnvelope({ workspaceId, userId, tokenId }, chain, sent, path)
  const row = [{ uuid: tokenId }, { uuid: project_id }, { text: environment }]
  const sealed = await outer.seal('token_envelopes.envelope', workspaceId, row, raw)
  return { project_id, environment, epoch, sealed, ...statement }
}
