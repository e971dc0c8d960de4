/** An environment of a signed workspace, the way one of its members has it open in a client. */
import type { EnvironmentPlace } from '../../src/client/environment.ts'
import { Chains, type KnownChain, type KnownManifest } from '../../src/client/signed/chain.ts'
import { toSignedWorkspace } from '../../src/client/workspace.ts'
import { listLinks } from '../../src/features/links/contract.ts'
import type { SignedPerson } from './signed.ts'
import type { SignedProject } from './statements.ts'

export function openEnvironment(
  project: SignedProject,
  { api, identity }: SignedPerson = project.owner,
  environment = 'development',
): EnvironmentPlace {
  const { workspaceId: id, workspaceKey: key, projectId } = project
  const readLinks = (workspace_id: string, after: number) =>
    api.call(listLinks, { params: { workspace_id }, query: { after } })
  const chains = new Map<string, KnownChain>()
  const manifests = new Map<string, KnownManifest>()
  const known = {
    of: (workspaceId: string) => chains.get(workspaceId),
    remember: (workspaceId: string, chain: KnownChain) => void chains.set(workspaceId, chain),
    manifestOf: (where: object) => manifests.get(JSON.stringify(where)),
    rememberManifest: (where: object, { revision, root }: KnownManifest) =>
      void manifests.set(JSON.stringify(where), { revision, root }),
  }
  const workspace = toSignedWorkspace(
    { id, name: 'acme', epoch: 1, key },
    {
      chains: new Chains(readLinks, known, { met: () => {}, rekeyed: () => {} }),
      identity: async () => identity,
    },
  )
  return { api, workspace, projectId, environment }
}
