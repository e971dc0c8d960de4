/** The demo's stage: a server with a temporary data directory, an API to call, and people with keys. */

import { timingSafeEqual } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../core/config/config.ts'
import { openLog } from '../../core/log.ts'
import { readOwnKeys } from '../../operator/own_keys.ts'
import { type App, startApp } from '../../server/app.ts'
import { type Authority, createAuthority } from './certificates.ts'

export type Stage = {
  app: App
  api: PaymentsApi
  /** `host:port`, as the allowlist and URLs name the API. */
  apiAuthority: string
  controlPlane: string
  resolver: string
  clear(): Promise<void>
}

export const credentials = {
  PAYMENTS_KEY: 'pk_live_51N8xDemoOnlyNotARealKey',
  BASIC_PASSWORD: 'correct horse battery staple',
  WEBHOOK_SECRET: 'whsec_demo_only_7f3a',
} as const

export const BASIC_USER = 'billing'

export async function setStage(): Promise<Stage> {
  const directory = mkdtempSync(join(tmpdir(), 'cloakroom-demo-'))
  try {
    return await build(directory)
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    throw error
  }
}

async function build(directory: string): Promise<Stage> {
  const authority = await createAuthority('Cloakroom demo')
  const caFile = join(directory, 'demo-ca.pem')
  writeFileSync(caFile, authority.certificate)
  const basic = `${BASIC_USER}:${credentials.BASIC_PASSWORD}`
  const api = await startPaymentsApi(authority, { bearer: credentials.PAYMENTS_KEY, basic })
  const env = {
    DATA_DIR: join(directory, 'data'),
    PORT: '0',
    RESOLVER_PORT: '0',
    RESOLVER_HOSTS: `${API_HOST}=127.0.0.1`,
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: caFile,
  }
  const config = readConfig(env, (dataDir) => readOwnKeys(dataDir, () => {}))
  const app = await startApp(config, { log: openLog('error'), onFailure: () => {} })
  return {
    app,
    api,
    apiAuthority: `${API_HOST}:${api.port}`,
    controlPlane: app.controlPlane ?? '',
    resolver: app.resolver ?? '',
    clear: async () => {
      await api.stop()
      await app.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const API_HOST = 'api.payments.example'

type Received = { method: string; path: string; authorization: string | null }

type PaymentsApi = {
  port: number
  /** Every request so far, oldest first. */
  received: Received[]
  stop(): Promise<void>
}

/** `bearer` and `basic` are the only credentials that it accepts. */
async function startPaymentsApi(
  authority: Authority,
  { bearer, basic }: { bearer: string; basic: string },
): Promise<PaymentsApi> {
  const received: Received[] = []
  const accepted = [`Bearer ${bearer}`, `Basic ${Buffer.from(basic).toString('base64')}`]
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: await authority.issue([API_HOST]),
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const authorization = request.headers.get('authorization')
      received.push({ method: request.method, path: pathname, authorization })
      if (!accepted.some((credential) => checkEqual(credential, authorization ?? ''))) {
        return Response.json({ error: 'wrong credentials' }, { status: 401 })
      }
      const answer = { ok: true, charge: 'ch_1001' }
      return Response.json(
        pathname === '/v1/echo' ? { ...answer, you_sent: authorization } : answer,
      )
    },
  })
  return { port: server.port ?? 0, received, stop: () => server.stop(true) }
}

function checkEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
