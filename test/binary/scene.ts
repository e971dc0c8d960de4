/** An external API for the executable to call, and the settings that permit the call. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { freshDatabase } from '../support/database.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { type AgentToken, type Customer, callServer } from './independent_client.ts'

const HOST = 'api.upstream.example'

export type Scene = {
  upstream: Upstream
  /** The host in the form of the allowlist. */
  authority: string
  url(path: string): string
  /** Settings of the server: an empty database, keys, and a way to the upstream. */
  env: Record<string, string>
  close(): Promise<void>
}

/** Known keys, so that a test can search for them where they must not be. */
export const KEYS = {
  SECRET_KEY: 'kept-by-the-test-kept-by-the-test-kept',
  ENCRYPTION_KEY: Buffer.alloc(32, 0x5a).toString('base64url'),
}

export async function openScene(): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'cr-scene-'))
  const database = await freshDatabase()
  const authority = await createAuthority('Test authority')
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, authority.certificate)
  const upstream = await startUpstream(authority, {
    names: [HOST],
    tls: { minVersion: 'TLSv1.3' },
  })
  const name = `${HOST}:${upstream.port}`
  return {
    upstream,
    authority: name,
    url: (path) => `https://${name}${path}`,
    env: {
      ...KEYS,
      ...database.env,
      RESOLVER_HOSTS: `${HOST}=127.0.0.1`,
      RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
      RESOLVER_CA_FILE: caFile,
    },
    close: async () => {
      await upstream.stop()
      database.remove()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export async function allow({ authority }: Scene, { call, workspaceId }: Customer): Promise<void> {
  await call('POST', `/api/workspaces/${workspaceId}/allowlist/`, { domain: authority })
}

/** A call of the agent with the secret API_KEY as its bearer. */
export function resolveAs(
  { token }: AgentToken,
  resolver: string,
  target_url: string,
): Promise<Record<string, unknown>> {
  const headers = { Authorization: 'Bearer SVC_SECRET_API_KEY' }
  const body = { target_url, headers }
  return callServer(resolver, { method: 'POST', path: '/v1/resolve', body, token })
}
