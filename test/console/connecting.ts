/** A person's worker, the console of their machine and a fake provider, without a browser that renders. */

import { openProviderFetch } from '../../src/client/connect/provider_fetch.ts'
import { openApi } from '../../src/client/http/api.ts'
import type { ConnectionChoice } from '../../src/console/connecting/contract.ts'
import { LocalConnections } from '../../src/console/connecting/local_connections.ts'
import { answerConnection } from '../../src/console/connecting/routes.ts'
import type { UnlockedSession } from '../../src/console/web/keys/unlocked_session.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import type { Endpoint } from '../../src/http/endpoint.ts'
import { freshEmail, sharedApp } from '../support/app.ts'
import { loopbackFetch, openInBrowser, type ShownPage } from '../support/oauth/browser.ts'
import { startProvider } from '../support/oauth/provider.ts'
import { signUp } from './accounts.ts'
import { elsewhere } from './elsewhere.ts'

const LOCAL_NAME = `cloakroom-${'a'.repeat(32)}.localhost`

/** The worker's address: the console of this machine, or a server's. */
export function showPageOf(origin: 'machine' | 'server'): void {
  const hostname = origin === 'machine' ? LOCAL_NAME : 'vault.example.com'
  Reflect.set(globalThis, 'location', { hostname })
}

export async function openConnections(limitMs?: number) {
  const app = await sharedApp()
  const provider = await startProvider()
  const email = freshEmail('connects')
  await signUp(app.controlPlane, email)
  const { workspace, reader } = await elsewhere(app.controlPlane, email)
  const fetcher = loopbackFetch(provider.certificate)
  const connections = new LocalConnections(openProviderFetch(fetcher as never), limitMs)
  const machine = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => answerConnection(request, connections),
  })
  const local = openApi(machine.url.origin)
  /** Requests of the worker to the server. */
  const sent: string[] = []
  const calls = (name: 'call' | 'list' | 'whole') => (endpoint: Endpoint, input: object) => {
    if (endpoint.path.startsWith('/local/')) return local.call(endpoint, input as never)
    sent.push(JSON.stringify(input))
    return reader.api[name](endpoint, input as never)
  }
  const api = { ...reader.api, call: calls('call'), list: calls('list'), whole: calls('whole') }
  const held = {
    api,
    names: { ofWorkspaces: <T>(listed: T) => listed, demand() {} },
    reader: () => ({ ...reader, api }),
  } as unknown as UnlockedSession
  const body = { workspace_id: workspace.id, name: 'payments' }
  const { id: projectId } = await reader.api.call(createProject, { body } as never)
  showPageOf('machine')
  return {
    app,
    provider,
    held,
    sent,
    at: { workspaceId: workspace.id, projectId, environment: 'development' },
    /** The provider's own client. */
    choice: {
      authorizeUrl: `${provider.url}/auth`,
      tokenUrl: provider.tokenUrl,
      clientId: provider.clientId,
      clientSecret: provider.clientSecret,
      scope: 'openid offline_access api',
      redirectUri: 'http://127.0.0.1:28977/callback',
      domains: ['api.example.com'],
    } satisfies ConnectionChoice,
    browse: (url: string): Promise<ShownPage> => openInBrowser(url, fetcher),
    close: async () => {
      connections.close()
      Reflect.deleteProperty(globalThis, 'location')
      await Promise.all([machine.stop(true), provider.stop()])
    },
  }
}
