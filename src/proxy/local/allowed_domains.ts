/** Which domains values may go to. */
import type { Api } from '../../client/http/api.ts'
import type { OpenWorkspace } from '../../client/workspace.ts'
import { type Domain, parseDomain } from '../../core/net/domain.ts'
import { listAllowlist } from '../../features/allowlist/contract.ts'

/** In a signed workspace by its chain, in which this member must still be. @throws UntrustedChain */
export async function domainsOf(api: Api, workspace: OpenWorkspace): Promise<Domain[]> {
  await workspace.newestChain()
  const signer = await workspace.signer()
  if (signer) return [...signer.chain.allowlist].flatMap((domain) => parseDomain(domain) ?? [])
  const allowlist = await api.list(listAllowlist, { params: { workspace_id: workspace.id } })
  return allowlist.flatMap(({ domain }) => parseDomain(domain) ?? [])
}
