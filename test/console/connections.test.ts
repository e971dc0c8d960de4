// tier: all
/** The worker's commands that connect a secret through the console of the person's machine. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ConnectionChoice } from '../../src/console/connecting/contract.ts'
import { LocalConnections } from '../../src/console/connecting/local_connections.ts'
import { allowlistCommands } from '../../src/console/web/keys/commands/allowlist.ts'
import { connectionsCommands } from '../../src/console/web/keys/commands/connections/index.ts'
import { secretsCommands } from '../../src/console/web/keys/commands/secrets.ts'
import { failureFrom } from '../../src/console/web/keys/failure.ts'
import { cannedAnswers, type ProviderFaults } from '../support/oauth/provider.ts'
import { until } from '../support/until.ts'
import { openConnections, showPageOf } from './connecting.ts'

let stage: Awaited<ReturnType<typeof openConnections>>

beforeAll(async () => {
  stage = await openConnections()
})
afterAll(() => stage.close())
afterEach(() => {
  stage.provider.clearFaults()
  showPageOf('machine')
})

type Connection = Awaited<ReturnType<typeof start>>['connection']

const start = (key: string, choice: ConnectionChoice = stage.choice) =>
  connectionsCommands.start(stage.held, { ...stage.at, key, choice })
const poll = (connection: Connection, allow = false) =>
  connectionsCommands.poll(stage.held, { connection, allow })
const cancel = (connection: Connection) => connectionsCommands.cancel(stage.held, { connection })
const list = () => secretsCommands.list(stage.held, stage.at)
const names = async () => (await list()).map(({ key }) => key)
const root = async (key: string) =>
  JSON.parse(await secretsCommands.reveal(stage.held, { ...stage.at, key }))

/** Polls as the page does, but more often. */
const settled = (connection: Connection, allow = false) =>
  until(async () => {
    const polled = await poll(connection, allow)
    return polled.state === 'stored' && polled
  })

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'succeeded',
    (error) => failureFrom(error).code,
  )

async function connect(key: string, choice: ConnectionChoice = stage.choice, allow = false) {
  const { connection, url } = await start(key, choice)
  const page = await stage.browse(url ?? '')
  return { page, ...(await settled(connection, allow)) }
}

describe('connecting', () => {
  test('a connection stores the root with its hosts after the user approves it', async () => {
    const { connection, url, device } = await start('DRIVE')
    expect(device).toBeNull()
    expect(await poll(connection)).toEqual({ state: 'waiting' })
    expect(await names()).not.toContain('DRIVE')
    const page = await stage.browse(url ?? '')
    expect(page.text).toContain('Connected. You can close this page.')
    const hosts = [stage.provider.host, 'api.example.com']
    expect(await settled(connection)).toEqual({
      ...{ state: 'stored', key: 'DRIVE', hosts, missing: hosts, failure: null },
    })
    expect(await root('DRIVE')).toEqual({
      token_url: stage.provider.tokenUrl,
      client_id: stage.provider.clientId,
      client_secret: stage.provider.clientSecret,
      client_auth: 'basic',
      scope: 'openid offline_access api',
      refresh_token: expect.any(String),
    })
    const stored = (await list()).find(({ key }) => key === 'DRIVE')
    expect(stored).toMatchObject({
      policy: { kind: 'oauth2', allowed_domains: ['api.example.com'] },
      renewal: { kind: 'oauth2', state: 'new', until: null, failedCode: null },
    })
    expect(await codeOf(poll(connection))).toBe('connect_ended')
  })

  test('a connection sends the server no code, verifier or client secret', async () => {
    await connect('SILENT')
    const { parameters } = stage.provider.requests.at(-1) ?? {}
    const { client_secret, refresh_token } = await root('SILENT')
    const secrets = [parameters?.get('code'), parameters?.get('code_verifier')]
    for (const secret of [...secrets, client_secret, refresh_token]) {
      expect(secret).toEqual(expect.any(String))
      expect(stage.sent.join('\n')).not.toContain(String(secret))
    }
  })

  test('a connection allows missing hosts if the user asks for it', async () => {
    const { missing } = await connect('ALLOWED', stage.choice, true)
    expect(missing).toEqual([])
    const { entries } = await allowlistCommands.list(stage.held, stage.at)
    expect(entries.map(({ domain }) => domain)).toContain(stage.provider.host)
    expect(await connect('ALLOWED')).toMatchObject({ missing: [] })
  })

  test('a connection replaces an existing secret, unless someone changed it meanwhile', async () => {
    const set = (value: string) =>
      secretsCommands.set(stage.held, {
        ...stage.at,
        secrets: [{ key: 'TAKEN', value, policy: null }],
      })
    await set('first')
    expect(await connect('TAKEN')).toMatchObject({ state: 'stored' })
    const { connection, url } = await start('TAKEN')
    await stage.browse(url ?? '')
    await set('second')
    expect(await codeOf(settled(connection))).toBe('conflict')
    expect(await secretsCommands.reveal(stage.held, { ...stage.at, key: 'TAKEN' })).toBe('second')
    await cancel(connection)
  })

  test('a connection to an MCP server needs only its address, and registers a client', async () => {
    await connect('MCP', { url: `${stage.provider.url}/mcp` })
    expect(await root('MCP')).toMatchObject({
      resource: `${stage.provider.url}/mcp`,
      client_auth: 'none',
      refresh_token: expect.any(String),
    })
  })

  test('the worker lists providers that need a client, and whether this console can connect', () => {
    const { isLocal, providers } = connectionsCommands.providers()
    expect(isLocal).toBe(true)
    expect(providers.find(({ name }) => name === 'google')).toMatchObject({
      title: 'Google',
      hasDevice: true,
      needsSecret: true,
      hasFixedRedirect: false,
    })
  })
})

type Change = Record<string, unknown>
type FailedCall = [what: string, code: string, fault: ProviderFaults]

describe('a failed connection', () => {
  const failures: FailedCall[] = [
    ['the person denies access', 'connect_access_denied', { denies: true }],
    ['the state differs', 'connect_other_flow', { editRedirect: (it) => it.set('state', 'x') }],
    ['the state is missing', 'connect_other_flow', { editRedirect: (it) => it.delete('state') }],
    ['the code is missing', 'connect_code_missing', { editRedirect: (it) => it.delete('code') }],
    ['the code is wrong', 'connect_token_refused', { editRedirect: (it) => it.set('code', 'x') }],
    [
      'no refresh token is issued',
      'connect_refresh_token_missing',
      { editToken: (it: Change) => delete it.refresh_token },
    ],
    ['the token endpoint fails', 'connect_answer_refused', { answer: cannedAnswers.broken }],
    ['the answer is too large', 'connect_answer_refused', { answer: cannedAnswers.huge }],
    ['the answer is lost', 'connect_unreachable', { losesAnswer: true }],
  ]
  test.each(failures)('a connection stores nothing if %s', async (_, code, fault) => {
    stage.provider.setFault(fault)
    const { connection, url } = await start('FAILED')
    const page = await stage.browse(url ?? '')
    expect(page.text).toContain('Not connected.')
    expect(await codeOf(settled(connection))).toBe(code)
    expect(await codeOf(poll(connection))).toBe('connect_ended')
    expect(await names()).not.toContain('FAILED')
  })

  const refusals: [what: string, code: string, choice: ConnectionChoice][] = [
    ['no provider is chosen', 'connect_provider_missing', { domains: ['api.example.com'] }],
    ['the provider is unknown', 'connect_unknown_provider', { provider: 'constructor' }],
    ['a preset has no client', 'connect_client_missing', { provider: 'google' }],
    ['an address is not https', 'connect_address_refused', { url: 'http://127.0.0.1/mcp' }],
    ['the provider does not answer', 'connect_unreachable', { url: 'https://127.0.0.1:1/mcp' }],
    ['a host is invalid', 'validation_error', { provider: 'google', domains: ['https://x'] }],
    [
      'the redirect leads elsewhere',
      'connect_redirect_refused',
      { provider: 'google', clientId: 'x', redirectUri: 'http://evil.example:80/callback' },
    ],
    ['there is no device flow', 'connect_endpoint_missing', { provider: 'slack', device: true }],
  ]
  test.each(refusals)('a connection is refused if %s', async (_, code, choice) => {
    const given = choice.provider === 'slack' ? { ...choice, clientId: 'x' } : choice
    expect(await codeOf(start('REFUSED', given))).toBe(code)
  })

  test('a connection is refused without hosts', async () => {
    const { domains: _, ...choice } = stage.choice
    expect(await codeOf(start('REFUSED', choice))).toBe('connect_hosts_missing')
  })

  test('a connection is refused if the metadata of an MCP server has another issuer, or no PKCE', async () => {
    const choice = { url: `${stage.provider.url}/mcp` }
    stage.provider.setFault({
      editMetadata: (it) => Object.assign(it, { issuer: 'https://x.example' }),
    })
    expect(await codeOf(start('REFUSED', choice))).toBe('connect_metadata_differs')
    stage.provider.setFault({ editMetadata: (it) => delete it.code_challenge_methods_supported })
    expect(await codeOf(start('REFUSED', choice))).toBe('connect_pkce_missing')
  })

  test('a cancelled connection stores nothing and closes its redirect address', async () => {
    const { connection, url } = await start('CANCELLED')
    await cancel(connection)
    expect(await codeOf(poll(connection))).toBe('connect_ended')
    await until(() => codeOf(stage.browse(url ?? '')).then((code) => code !== 'succeeded'))
    expect(await names()).not.toContain('CANCELLED')
  })

  test('a connection is refused if another program uses the redirect address', async () => {
    const other = Bun.serve({ hostname: '127.0.0.1', port: 28977, fetch: () => new Response() })
    expect(await codeOf(start('REFUSED'))).toBe('connect_port_taken')
    await other.stop(true)
  })

  test('a connection stores nothing if a later one takes its redirect address', async () => {
    const earlier = await start('EARLIER')
    expect(await connect('LATER')).toMatchObject({ state: 'stored' })
    expect(await codeOf(poll(earlier.connection))).toBe('connect_ended')
  })

  test('a connection is refused if too many are in progress', async () => {
    const { redirectUri: _, ...choice } = stage.choice
    const flows = await Promise.all(Array.from({ length: 8 }, () => start('MANY', choice)))
    expect(await codeOf(start('MORE', choice))).toBe('connect_too_many')
    for (const { connection } of flows) await cancel(connection)
  })
})

test('a connection that nobody approves in time ends', async () => {
  // A busy machine may read it late: with the default it would be forgotten after twice the time.
  const connections = new LocalConnections(async () => new Response(), 200, 60_000)
  const choice = { ...stage.choice, redirectUri: 'http://127.0.0.1:28978/callback' }
  const { id } = await connections.start({ key: 'LATE', flow: { choice } })
  expect(connections.read(id)).toEqual({ root: null })
  const failed = () => {
    try {
      connections.read(id)
    } catch (error) {
      return error
    }
  }
  expect(await until(failed)).toMatchObject({ code: 'timed_out' })
  expect(connections.read(id)).toBeNull()
})

test('a device code is confirmed elsewhere', async () => {
  const { redirectUri: _, ...choice } = stage.choice
  const { connection, device, url } = await start('DEVICE', {
    ...choice,
    device: true,
    deviceUrl: `${stage.provider.url}/device/auth`,
  })
  expect(device?.verificationUrl).toStartWith(stage.provider.url)
  expect(new URL(url ?? '').searchParams.get('user_code')).toBe(device?.userCode ?? '')
  await stage.provider.decideDevice(device?.userCode ?? '', 'approve')
  expect(await settled(connection)).toMatchObject({ state: 'stored' })
}, 20_000)

describe('reconnecting', () => {
  const reconnect = (key: string) =>
    connectionsCommands.reconnect(stage.held, {
      ...stage.at,
      key,
      again: {
        authorizeUrl: stage.choice.authorizeUrl,
        redirectUri: stage.choice.redirectUri,
      },
    })
  const cell = async (key: string) => {
    const { rows } = await secretsCommands.matrix(stage.held, stage.at)
    return rows.find((row) => row.key === key)?.cells.development
  }

  test('a reconnect replaces the root after a refused renewal, and the matrix shows both states', async () => {
    await connect('AGAIN')
    const before = await root('AGAIN')
    const { workspaceId, projectId, environment } = stage.at
    await stage.app.connection.sql`insert into derived_states
      (workspace_id, project_id, environment, key, generation, failed_at, failed_code, is_final)
      values (${workspaceId}, ${projectId}, ${environment}, 'AGAIN', 1, now(), 'invalid_grant', true)`
    expect((await cell('AGAIN'))?.renewal).toMatchObject({
      state: 'reconnect',
      failedAt: expect.any(String),
      failedCode: 'invalid_grant',
    })
    const { connection, url } = await reconnect('AGAIN')
    await stage.browse(url ?? '')
    expect(await settled(connection)).toMatchObject({ state: 'stored' })
    const after = await root('AGAIN')
    expect(after).toEqual({ ...before, refresh_token: expect.any(String) })
    expect(after.refresh_token).not.toBe(before.refresh_token)
    expect(await cell('AGAIN')).toMatchObject({
      policy: { kind: 'oauth2', allowed_domains: ['api.example.com'] },
      renewal: { state: 'new', failedAt: null },
    })
  })

  test('a reconnect is refused for a secret that was not connected', async () => {
    const secrets = [{ key: 'PLAIN', value: 'value', policy: null }]
    await secretsCommands.set(stage.held, { ...stage.at, secrets })
    expect(await codeOf(reconnect('PLAIN'))).toBe('not_connected')
    expect((await cell('PLAIN'))?.renewal).toBeNull()
  })
})

describe('the console of a server', () => {
  const place = { workspace: 'My team', project: 'payments', environment: 'development' }
  const command = (choice: Parameters<typeof connectionsCommands.command>[1]['choice']) =>
    connectionsCommands.command(stage.held, { ...place, key: 'DRIVE', choice }).command
  const at = "-w 'My team' -p payments -e development"

  test('the console of a server connects nothing itself', async () => {
    showPageOf('server')
    expect(connectionsCommands.providers().isLocal).toBe(false)
    expect(await codeOf(start('ELSEWHERE'))).toBe('connect_elsewhere')
    const again = connectionsCommands.reconnect(stage.held, { ...stage.at, key: 'DRIVE' })
    expect(await codeOf(again)).toBe('connect_elsewhere')
  })

  test('the console of a server shows a command that a shell parses as chosen', () => {
    const choice = {
      provider: 'google',
      clientId: "it's; rm",
      scope: 'a b',
      domains: ['a.example'],
    }
    expect(command(choice)).toBe(
      `cloakroom connect DRIVE --provider google --client-id 'it'\\''s; rm' --scope 'a b' --domains a.example --allow ${at}`,
    )
    expect(command({ url: 'https://mcp.example/mcp', isPublic: true, device: true })).toBe(
      `cloakroom connect DRIVE --url https://mcp.example/mcp --public-client --device --allow ${at}`,
    )
    expect(command(null)).toBe(`cloakroom secrets reconnect DRIVE ${at}`)
  })

  test('the console of a server notices the stored secret', async () => {
    const arrived = (after: number) =>
      connectionsCommands.arrived(stage.held, { ...stage.at, key: 'ARRIVES', after })
    expect(await arrived(0)).toBeNull()
    await connect('ARRIVES')
    expect(await arrived(0)).toMatchObject({ version: 1, renewal: { state: 'new' } })
    expect(await arrived(1)).toBeNull()
  })
})
