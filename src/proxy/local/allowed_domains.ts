/** Which domains values may go to. */
import type { Api } from '../../client/http/api.ts'
import { type OpenWorkspace, signerOf, signingOf } from '../../client/vault.ts'
import { type Domain, parseDomain } from '../../core/net/domain.ts'
import { listAllowlist } from '../../features/allowlist/contract.ts'

/** In a signed workspace by its chain, in which this member must still be. @throws UntrustedChain */
export async function domainsOf(api: Api, workspace: OpenWorkspace): Promise<Domain[]> {
  const signing = signingOf(workspace)
  if (signing !== null) {
    await signing.chains.continued(workspace)
    const signer = await signerOf(workspace)
    return [...(signer?.chain.allowlist ?? [])].flatMap((domain) => parseDomain(domain) ?? [])
  }
  const allowlist = await api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  return allowlist.flatMap(({ domain }) => parseDomain(domain) ?? [])
}
