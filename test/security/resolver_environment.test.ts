// tier: all
/** No variable in the server's environment changes an outbound call: no proxy, no lax TLS, no debug output. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from '../../src/cli/demo/certificates.ts'
import { runtimeSettings } from '../../src/core/clean_environment.ts'
import { type Agent, createAgentWithToken, type Stage, sharedStage } from '../support/agent.ts'
import { marked } from '../support/canary.ts'
import { databasePlace } from '../support/places.ts'
import { type ServerProcess, startServer } from '../support/server_process.ts'
import { startUpstream } from '../support/upstream.ts'

const MARKER = marked('sk_live_environment_marker')

let stage: Stage
let directory: string
let contacted = 0
let proxy: { port: number; stop(force: boolean): void }

beforeAll(async () => {
  stage = await sharedStage()
  directory = mkdtempSync(join(databasePlace, 'cr-env-'))
  proxy = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        contacted += 1
      },
      data: () => {},
    },
  })
}, 30_000)
afterAll(async () => {
  proxy.stop(true)
  await stage.stop()
  rmSync(directory, { recursive: true, force: true })
})

/** A server whose environment would change calls if it could; `extra` is added. */
async function withServer(
  extra: Record<string, string>,
  act: (agent: Agent, server: ServerProcess) => Promise<void>,
) {
  const stranger = await createAuthority('Stranger')
  const strangerFile = join(directory, 'stranger.pem')
  writeFileSync(strangerFile, stranger.certificate)
  const through = `http://127.0.0.1:${proxy.port}`
  const server = await startServer({
    DATA_DIR: join(directory, `data-${Object.keys(extra).length}`),
    RESOLVER_ALLOW_NETWORKS: '127.0.0.1/32',
    RESOLVER_CA_FILE: stage.caFile,
    RESOLVER_HOSTS: 'api.upstream.example=127.0.0.1',
    HTTPS_PROXY: through,
    https_proxy: through,
    HTTP_PROXY: through,
    ALL_PROXY: through,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_EXTRA_CA_CERTS: strangerFile,
    SSL_CERT_FILE: strangerFile,
    BUN_CONFIG_VERBOSE_FETCH: 'curl',
    ...extra,
  })
  try {
    const agent = await createAgentWithToken(
      { app: server.app, authorityOf: stage.authorityOf },
      { secrets: { KEY: MARKER } },
    )
    const untrusted = await startUpstream(stranger, { names: ['api.upstream.example'] })
    await agent.allow(stage.authorityOf(), `api.upstream.example:${untrusted.port}`)
    const headers = { Authorization: 'Bearer SVC_SECRET_KEY' }
    const distrusted = await agent.resolve({
      target_url: `https://api.upstream.example:${untrusted.port}/`,
      headers,
    })
    expect(distrusted.body).toMatchObject({ error_code: 'upstream_tls_error' })
    expect(untrusted.bytes).toBe(0)
    await untrusted.stop()
    await act(agent, server)
  } finally {
    server.kill('SIGTERM')
    await server.exited
  }
}

describe('proxies, lax TLS, other authorities and debug output of the environment are ignored', () => {
  const settings: [string, Record<string, string>][] = [
    ['by a server that cleans its environment', {}],
    // The forged mark by which a server detects that its environment is already clean.
    ['also when the environment claims to be clean', runtimeSettings],
  ]
  test.each(settings)('%s', async (_, extra) => {
    await withServer(extra, async (agent, server) => {
      const before = stage.upstream.received.length
      const answer = await agent.resolve({
        target_url: stage.url('/'),
        headers: { Authorization: 'Bearer SVC_SECRET_KEY' },
      })
      expect(answer.status).toBe(200)
      expect(stage.upstream.received.length).toBe(before + 1)
      expect(contacted).toBe(0)
      expect(server.output()).not.toContain(MARKER)
      expect(server.output()).not.toMatch(/\[fetch\]|curl -/)
    })
  })
})
