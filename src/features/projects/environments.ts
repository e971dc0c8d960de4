/** Environments: those with secrets, the default ones, and created empty ones. */

import type { QuotaConfig } from '../../core/config/quotas.ts'
import { Fault } from '../../core/fault.ts'
import type { ProjectGrant } from '../../core/grant.ts'
import { requireQuota } from '../../database/limits/quota.ts'
import { lockWorkspace } from '../../database/workspace_lock.ts'
import { type Change, toTokenResource } from '../../http/recorder.ts'
import { type Changing, listRoute, type Route, route } from '../../http/route.ts'
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
import { coverageOf, diffOf, sortEnvironments } from './coverage.ts'
import {
  countSecrets,
  selectEnvironmentNames,
  selectKeyPlaces,
  selectKeysIn,
} from './coverage_queries.ts'
import {
  deleteGrants,
  revokeEnvironmentTokens,
  selectEnvironments,
  updateEnvironments,
} from './queries.ts'

export function environmentRoutes(services: SignedServices): Route[] {
  return [
    route(listEnvironments, async ({ tx, grant }) => {
      const counts = await countSecrets(tx, grant)
      const environments = sortEnvironments([...counts.keys()]).map(
        (name) => [name, counts.get(name) ?? { secret_count: 0 }] as const,
      )
      return { project_id: grant.projectId, environments: Object.fromEntries(environments) }
    }),
    route(createEnvironment, ({ body, ...changing }) =>
      create(changing, services.config, body.name),
    ),
    route(deleteEnvironment, ({ params, body, ...changing }) =>
      remove(changing, services, { name: params.environment, ...body }),
    ),
    listRoute(showCoverage, async ({ tx, grant }) => {
      const environments = sortEnvironments(await selectEnvironmentNames(tx, grant))
      return {
        name: `coverage ${grant.projectId}`,
        read: (page) => selectKeyPlaces(tx, grant, page),
        sortKey: ({ key }) => [key],
        open: (rows) => ({
          project_id: grant.projectId,
          environments,
          keys: rows.map((row) => coverageOf(row, environments)),
        }),
      }
    }),
    listRoute(showDiff, ({ tx, grant, query: { from, to } }) => ({
      name: `diff ${grant.projectId} ${from} ${to}`,
      read: (page) => selectKeysIn(tx, grant, { from, to, ...page }),
      sortKey: ({ key }) => [key],
      open: (rows) => diffOf(rows, from, to),
    })),
  ]
}

async function create(
  { tx, grant, audit }: Changing<ProjectGrant<'project.write'>>,
  config: QuotaConfig,
  name: string,
): Promise<{ name: string }> {
  const [, made, names] = await Promise.all([
    lockWorkspace(tx, grant),
    selectEnvironments(tx, grant),
    selectEnvironmentNames(tx, grant),
  ])
  if (names.includes(name)) {
    throw new Fault('already_exists', {
      message: 'The project already has an environment with this name.',
    })
  }
  audit.record(change('environment.created', grant, name))
  await Promise.all([
    updateEnvironments(tx, grant, [...made, name]),
    requireQuota(tx, config, 'environments', grant.projectId),
  ])
  return { name }
}

/**
 * Secrets can be restored for a while. Tokens of the environment alone are revoked and grants for it
 * removed: an environment that is created again with the name has the same key.
 */
async function remove(
  { tx, grant, audit }: Changing<ProjectGrant<'project.delete'>>,
  services: SignedServices,
  { name, manifest }: { name: string; manifest?: SignedText | undefined },
): Promise<{ secrets: number; tokens: number }> {
  const [, made] = await Promise.all([lockWorkspace(tx, grant), selectEnvironments(tx, grant)])
  const others = made.filter((other) => other !== name)
  const isMade = others.length < made.length
  const [secrets, granted, revoked] = await Promise.all([
    deleteEnvironmentSecrets(tx, grant, name),
    deleteGrants(tx, grant, name),
    revokeEnvironmentTokens(tx, grant, name),
    isMade && updateEnvironments(tx, grant, others),
  ])
  if (secrets > 0 || manifest)
    await acceptManifest({ tx, grant }, services, { environment: name, manifest })
  if (!isMade && secrets + granted + revoked.length === 0) throw new Fault('not_found')
  audit.record(
    ...revoked.map(
      (token): Change => ({
        action: 'token.revoked',
        ...toTokenResource(token, token.agent),
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
