/**
 * Environments: those that hold secrets, those that always exist, and those that were made before anything
 * is stored in them.
 */

import { requireQuota } from '../../platform/db/quota.ts'
import { lockWorkspace } from '../../platform/db/workspace_lock.ts'
import { Fault } from '../../platform/fault.ts'
import type { ProjectGrant } from '../../platform/grant.ts'
import { aboutToken, type Change } from '../../platform/http/recorder.ts'
import { type Changing, type Route, route } from '../../platform/http/route.ts'
import type { QuotaConfig } from '../../platform/quotas.ts'
import type { SignedText } from '../../sigchain/index.ts'
import type { SignedServices } from '../links/index.ts'
import { deleteEnvironmentSecrets } from '../secrets/index.ts'
import { acceptManifest } from '../statements/index.ts'
import {
  createEnvironment,
  deleteEnvironment,
  listEnvironments,
  showCoverage,
  showDiff,
} from './contract.ts'
import { countByEnvironment, coverageOf, diffOf, environmentsOf } from './coverage.ts'
import {
  deleteGrants,
  revokeTokens,
  selectEnvironments,
  selectSecretNames,
  updateEnvironments,
} from './queries.ts'

export function environmentRoutes(services: SignedServices): Route[] {
  return [
    route(listEnvironments, async ({ tx, grant }) => {
      const names = await selectSecretNames(tx, grant)
      const made = await selectEnvironments(tx, grant)
      return { project_id: grant.projectId, environments: countByEnvironment(names, made) }
    }),
    route(createEnvironment, ({ body, ...changing }) =>
      create(changing, services.config, body.name),
    ),
    route(deleteEnvironment, ({ params, body, ...changing }) =>
      remove(changing, services, { name: params.environment, ...body }),
    ),
    route(showCoverage, async ({ tx, grant }) => {
      const names = await selectSecretNames(tx, grant)
      const made = await selectEnvironments(tx, grant)
      return { project_id: grant.projectId, ...coverageOf(names, made) }
    }),
    route(showDiff, async ({ tx, grant, query: { from, to } }) =>
      diffOf(await selectSecretNames(tx, grant), from, to),
    ),
  ]
}

async function create(
  { tx, grant, audit }: Changing<ProjectGrant<'project.write'>>,
  config: QuotaConfig,
  name: string,
): Promise<{ name: string }> {
  await lockWorkspace(tx, grant)
  const made = await selectEnvironments(tx, grant)
  if (environmentsOf(await selectSecretNames(tx, grant), made).includes(name)) {
    throw new Fault('already_exists', { message: 'The project has an environment of that name.' })
  }
  await updateEnvironments(tx, grant, [...made, name])
  await requireQuota(tx, config, 'environments', grant.projectId)
  audit.record(change('environment.created', grant, name))
  return { name }
}

/**
 * Secrets can be restored for a while. Tokens of the environment alone are revoked and grants for it taken
 * away: an environment that is made anew under the name has the same key.
 */
async function remove(
  { tx, grant, audit }: Changing<ProjectGrant<'project.delete'>>,
  services: SignedServices,
  { name, manifest }: { name: string; manifest?: SignedText | undefined },
): Promise<{ secrets: number; tokens: number }> {
  await lockWorkspace(tx, grant)
  const made = await selectEnvironments(tx, grant)
  const secrets = await deleteEnvironmentSecrets(tx, grant, name)
  if (secrets > 0 || manifest)
    await acceptManifest({ tx, grant }, services, { environment: name, manifest })
  const granted = await deleteGrants(tx, grant, name)
  const revoked = await revokeTokens(tx, grant, name)
  if (made.includes(name)) {
    await updateEnvironments(
      tx,
      grant,
      made.filter((other) => other !== name),
    )
  } else if (secrets + granted + revoked.length === 0) throw new Fault('not_found')
  audit.record(
    ...revoked.map(
      (token): Change => ({
        action: 'token.revoked',
        ...aboutToken(token, token.agent),
        projectId: grant.projectId,
        environment: name,
      }),
    ),
    change('environment.deleted', grant, name),
  )
  return { secrets, tokens: revoked.length }
}

function change(action: Change['action'], { projectId }: ProjectGrant, name: string): Change {
  const resource = { type: 'environment', id: null, name }
  return { action, resource, projectId, environment: name }
}
