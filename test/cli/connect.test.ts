// tier: all
/** `cloakroom connect` runs the flows of OAuth and stores a root that calls derive from. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { presets } from '../../src/client/connect/presets.ts'
import { parseDomain } from '../../src/core/net/domain.ts'
import { cannedAnswers } from '../support/oauth/provider.ts'
import { type ConnectStage, openConnectStage } from './connecting.ts'

let stage: ConnectStage

beforeAll(async () => {
  stage = await openConnectStage()
})
afterAll(() => stage.stop())
afterEach(() => stage.provider.clearFaults())

const mcp = () => ['--url', `${stage.provider.url}/mcp`]
const names = async () =>
  ((await stage.ada.json('secrets', 'list')) as { key: string }[]).map(({ key }) => key)

describe('the code flow', () => {
  test('the code flow stores a root with the refresh token, the client and the policy', async () => {
    const { code, out, err } = await stage.connect(['DRIVE', ...stage.given])
    expect({ code, out, err }).toMatchObject({ code: 0 })
    const page = await stage.pages.at(-1)
    expect(page?.text).toContain('Connected. You can close this page.')
    const root = await stage.root('DRIVE')
    expect(root).toEqual({
      token_url: stage.provider.tokenUrl,
      client_id: stage.provider.clientId,
      client_secret: stage.provider.clientSecret,
      client_auth: 'basic',
      scope: 'openid offline_access api',
      refresh_token: expect.any(String),
    })
    for (const text of [out, err, page?.text])
      expect(text).not.toContain(String(root.refresh_token))
    const listed = await stage.ada.json('policy', 'show', 'DRIVE')
    expect(listed).toMatchObject({
      policy: { kind: 'oauth2', allowed_domains: ['api.example.com'] },
    })
  })

  test('the code flow names the hosts that are not allowed, and --allow adds them', async () => {
    const { err } = await stage.connect(['HOSTS', ...stage.given])
    expect(err).toContain(`Run: cloakroom allowlist add ${stage.provider.host} api.example.com`)
    const { code } = await stage.connect(['HOSTS', ...stage.given, '--allow'])
    expect(code).toBe(0)
    const allowed = (await stage.ada.json('allowlist', 'list')) as { domain: string }[]
    expect(allowed.map(({ domain }) => domain)).toContain(stage.provider.host)
    expect((await stage.connect(['HOSTS', ...stage.given])).err).not.toContain('allowlist add')
  })

  test('the code flow prints the address and opens no browser with --no-browser', async () => {
    const browse = () => {
      throw new Error('a browser was opened')
    }
    const args = ['PRINTED', ...stage.given, '--no-browser', '--wait', '1s']
    const { code, err } = await stage.connect(args, { browse })
    expect(code).toBe(1)
    expect(err).toContain(`${stage.provider.url}/auth?`)
    expect(err).toContain('The browser did not return within 1 seconds.')
  })

  test.each([
    [
      'a wrong state',
      { editRedirect: (it: URLSearchParams) => it.set('state', 'x') },
      'state or issuer differ',
    ],
    [
      'no state',
      { editRedirect: (it: URLSearchParams) => it.delete('state') },
      'state or issuer differ',
    ],
    ['no code', { editRedirect: (it: URLSearchParams) => it.delete('code') }, 'sent no code'],
    [
      'a wrong code',
      { editRedirect: (it: URLSearchParams) => it.set('code', 'x') },
      '(invalid_grant)',
    ],
    ['a denial', { denies: true }, 'Access was denied in the browser (access_denied).'],
    [
      'no refresh token',
      { editToken: (it: Record<string, unknown>) => delete it.refresh_token },
      'issued no refresh token',
    ],
    ['a broken token endpoint', { answer: cannedAnswers.broken }, 'returned 500 without a token'],
    ['an HTML page', { answer: cannedAnswers.html }, 'returned 502 without a token'],
    ['a huge answer', { answer: cannedAnswers.huge }, 'more than 1 MiB'],
    ['a lost answer', { losesAnswer: true }, 'could not be reached'],
  ])('the code flow stores nothing after %s', async (_, fault, message) => {
    stage.provider.setFault(fault as never)
    const { code, err } = await stage.connect(['FAILED', ...stage.given])
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(message) })
    expect(await names()).not.toContain('FAILED')
    expect((await stage.pages.at(-1))?.text).toContain('Not connected.')
  })

  test('the code flow keeps an existing secret until it has succeeded', async () => {
    await stage.ada.must('secrets', 'set', 'KEPT=first')
    stage.provider.setFault({ denies: true })
    expect((await stage.connect(['KEPT', ...stage.given])).code).toBe(1)
    expect(await stage.ada.reveal('secrets', 'get', 'KEPT')).toBe('first')
    stage.provider.clearFaults()
    expect((await stage.connect(['KEPT', ...stage.given])).code).toBe(0)
    expect(await stage.root('KEPT')).toHaveProperty('refresh_token')
  })

  test('the code flow answers other paths with 404 and keeps waiting for its own', async () => {
    const seen: number[] = []
    const browse = async (url: string) => {
      const redirect = new URL(url).searchParams.get('redirect_uri') ?? ''
      for (const path of ['/', '/callback/x', '/favicon.ico']) {
        seen.push((await fetch(new URL(path, redirect))).status)
      }
      seen.push((await fetch(redirect, { method: 'POST' })).status)
      seen.push((await fetch(redirect, { headers: { host: 'evil.example' } })).status)
      await fetch(`${redirect}?error=access_denied&state=x`)
    }
    const { code } = await stage.connect(['OTHER', ...stage.given], { browse })
    expect(code).toBe(1)
    expect(seen).toEqual([404, 404, 404, 404, 404])
  })

  test('the client secret is requested on standard input, and never accepted as an argument', async () => {
    const { code, err } = await stage.ada.run(['connect', 'X', '--client-secret', 'x'])
    expect(code).toBe(2)
    expect(err).toContain('--client-secret')
  })
})

describe('an MCP server', () => {
  test('an MCP server is connected by its address alone: metadata, registration and resource', async () => {
    const { code, err } = await stage.connect(['MCP', ...mcp()])
    expect({ code, err }).toMatchObject({ code: 0 })
    const root = await stage.root('MCP')
    expect(root).toMatchObject({
      resource: `${stage.provider.url}/mcp`,
      token_url: stage.provider.tokenUrl,
      client_auth: 'none',
      refresh_token: expect.any(String),
    })
    expect(root).not.toHaveProperty('client_secret')
    expect(root.client_id).not.toBe(stage.provider.clientId)
    const sent = stage.provider.requests.at(-1)?.parameters
    expect(sent?.get('resource')).toBe(`${stage.provider.url}/mcp`)
    const shown = err.split('\n').find((line) => line.startsWith('https://')) ?? ''
    const asked = new URL(shown).searchParams
    expect(asked.get('resource')).toBe(`${stage.provider.url}/mcp`)
    expect(asked.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}$/)
    expect(asked.get('code_challenge_method')).toBe('S256')
  })

  test('a client registers if the provider accepts no client metadata document, and reports it', async () => {
    const url = 'https://example.com/client.json'
    const { code, err } = await stage.connect(['MCP2', ...mcp(), '--client-metadata-url', url])
    expect(code).toBe(0)
    expect(err).toContain('does not accept client metadata documents')
  })

  test.each([
    [
      'another resource',
      {
        editResource: (it: Record<string, unknown>) => {
          it.resource = 'https://evil.example/mcp'
        },
      },
      'is not for the resource',
    ],
    [
      'another issuer',
      {
        editMetadata: (it: Record<string, unknown>) => {
          it.issuer = 'https://evil.example'
        },
      },
      'is not for the issuer',
    ],
    [
      'no PKCE',
      { editMetadata: (it: Record<string, unknown>) => delete it.code_challenge_methods_supported },
      'does not announce PKCE with S256',
    ],
    [
      'plain PKCE only',
      {
        editMetadata: (it: Record<string, unknown>) => {
          it.code_challenge_methods_supported = ['plain']
        },
      },
      'does not announce PKCE with S256',
    ],
    [
      'an endpoint without https',
      {
        editMetadata: (it: Record<string, unknown>) => {
          it.token_endpoint = 'http://evil.example/t'
        },
      },
      'is not an https address',
    ],
    [
      'no registration',
      { editMetadata: (it: Record<string, unknown>) => delete it.registration_endpoint },
      'does not support client registration',
    ],
    [
      'a wrong iss',
      { editRedirect: (it: URLSearchParams) => it.set('iss', 'https://evil.example') },
      'state or issuer differ',
    ],
    [
      'no iss although it is announced',
      { editRedirect: (it: URLSearchParams) => it.delete('iss') },
      'state or issuer differ',
    ],
  ])('secrets reconnect is rejected with %s', async (_, fault, message) => {
    stage.provider.setFault(fault as never)
    const { code, err } = await stage.connect(['REFUSED', ...mcp()])
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(message) })
    expect(await names()).not.toContain('REFUSED')
  })
})

describe('secrets reconnect', () => {
  test('secrets reconnect replaces the root with the same client, scope and policy, and asks no questions', async () => {
    await stage.connect(['AGAIN', ...stage.given])
    const before = await stage.root('AGAIN')
    const redirect = ['--redirect-uri', 'http://127.0.0.1:28976/callback']
    const { code, err } = await stage.connect(['secrets', 'reconnect', 'AGAIN', ...redirect])
    expect({ code, err }).toMatchObject({ code: 0 })
    const after = await stage.root('AGAIN')
    expect(after).toEqual({ ...before, refresh_token: expect.any(String) })
    expect(after.refresh_token).not.toBe(before.refresh_token)
  })

  test('secrets reconnect finds the endpoints of an MCP server by its resource', async () => {
    await stage.connect(['MCP_AGAIN', ...mcp()])
    const before = await stage.root('MCP_AGAIN')
    const { code, err } = await stage.connect(['secrets', 'reconnect', 'MCP_AGAIN'])
    expect({ code, err }).toMatchObject({ code: 0 })
    expect(await stage.root('MCP_AGAIN')).toMatchObject({ resource: before.resource })
  })
})

describe('stored roots', () => {
  test('secrets show states that a new connection was never renewed', async () => {
    await stage.connect(['SHOWN', ...stage.given])
    const out = await stage.ada.must('secrets', 'show', 'SHOWN')
    expect(out).toMatch(/kind +oauth2/)
    expect(out).toContain('never renewed')
    expect(await stage.ada.must('secrets', 'show', 'SHOWN')).not.toContain('refresh_token')
  })

  test('stored roots are not copied to another environment', async () => {
    await stage.connect(['PLACED', ...stage.given])
    const named = await stage.ada.run(['secrets', 'copy', 'PLACED', '--to', 'staging'])
    expect(named).toMatchObject({ code: 2, err: expect.stringContaining('refresh token') })
    const all = await stage.ada.run(['env', 'copy', 'development', 'staging', '--yes'])
    expect(all).toMatchObject({ code: 0, err: expect.stringContaining('Not copied:') })
    const there = (await stage.ada.json('secrets', 'list', '-e', 'staging')) as { key: string }[]
    expect(there.map(({ key }) => key)).not.toContain('PLACED')
  })

  test('secrets set --kind rejects an invalid root, and prints no value', async () => {
    const set = ['secrets', 'set', 'TYPED', '--kind', 'oauth2', '--stdin']
    const bad = await stage.ada.run(set, {
      stdin: '{"token_url":"http://a.example","client_id":"x"}',
    })
    expect(bad.code).toBe(2)
    expect(bad.err).toContain('token_url')
    expect(bad.err).not.toContain('a.example')
    const root = { token_url: 'https://a.example/t', client_id: 'x', client_secret: 'secret-of-x' }
    expect((await stage.ada.run(set, { stdin: JSON.stringify(root) })).code).toBe(0)
    expect((await stage.ada.run(['secrets', 'set', 'TYPED=no-json'])).code).toBe(2)
  })
})

describe('the device flow', () => {
  const args = (name: string) => [
    name,
    ...stage.given.filter(
      (one) => !['--redirect-uri', 'http://127.0.0.1:28976/callback'].includes(one),
    ),
    ...['--device', '--device-url', `${stage.provider.url}/device/auth`],
  ]
  /** A person who immediately decides about the code in the address. */
  const deciding = (decision: 'approve' | 'deny') => (url: string) => {
    const code = new URL(url).searchParams.get('user_code') ?? ''
    void stage.provider.decideDevice(code, decision)
  }

  test('the device flow stores a root once the code is confirmed', async () => {
    const { code, err } = await stage.connect(args('DEVICE'), { browse: deciding('approve') })
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining('Enter the code') })
    expect(await stage.root('DEVICE')).toMatchObject({ refresh_token: expect.any(String) })
  }, 20_000)

  test('the device flow stores nothing if the person refuses', async () => {
    const { code, err } = await stage.connect(args('REFUSED'), { browse: deciding('deny') })
    expect(code).toBe(1)
    expect(err).toContain('access_denied')
    expect(await names()).not.toContain('REFUSED')
  }, 20_000)
})

test.each(Object.entries(presets))(
  'the hosts of the preset %s can be allowed',
  (_, { domains }) => {
    for (const domain of domains) expect(parseDomain(domain)?.text).toBe(domain)
  },
)
