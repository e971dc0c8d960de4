/** A metered resolver, an upstream that it trusts, and a neighbour of the attacker. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Authority, createAuthority } from '../../../src/cli/demo/certificates.ts'
import { type Agent, API, createAgentWithToken } from '../agent.ts'
import { marked } from '../canary.ts'
import { startUpstream, type Upstream } from '../upstream.ts'
import { type MeteredResolver, startMeteredResolver } from './meter.ts'

export type MeteredStage = {
  server: MeteredResolver
  authority: Authority
  upstream: Upstream
  createAgent(secrets: Record<string, string>): Promise<Agent>
  neighbour: Agent
  close(): Promise<void>
}

export async function openMeteredStage(): Promise<MeteredStage> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-metered-'))
  const authority = await createAuthority('Test authority')
  const RESOLVER_CA_FILE = join(directory, 'ca.pem')
  writeFileSync(RESOLVER_CA_FILE, authority.certificate)
  const upstream = await startUpstream(authority, { names: [API] })
  const server = await startMeteredResolver({
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE,
    RESOLVER_HOSTS: `${API}=127.0.0.1`,
    RATE_TOKEN: '1000000/1',
  })
  const stage = { app: server.app, authorityOf: (host = API) => `${host}:${upstream.port}` }
  const createAgent = (secrets: Record<string, string>) => createAgentWithToken(stage, { secrets })
  return {
    server,
    authority,
    upstream,
    createAgent,
    neighbour: await createAgent({ KEY: marked('sk_live_of_another') }),
    close: async () => {
      await server.stop()
      await upstream.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
