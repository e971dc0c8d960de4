// tier: all
/** Executes docs/guides/connections.md against a fake provider, with an API that receives the renewed token. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { type Preset, presets } from '../../src/client/connect/presets.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { type Stage, sharedStage } from '../support/agent.ts'
import { freshEmail } from '../support/app.ts'
import { commandLinesIn } from '../support/command_lines.ts'
import { loopbackFetch, openInBrowser } from '../support/oauth/browser.ts'
import { type FakeProvider, startProvider } from '../support/oauth/provider.ts'
import { linesOf } from './blocks.ts'

const API = 'www.googleapis.com'
const MCP = 'mcp.example.com'
const [google = '', call = ''] = linesOf('docs/guides/connections.md', 'google')
const lines = [google, ...linesOf('docs/guides/connections.md', 'connect')]
const [show = '', reconnect = ''] = linesOf('docs/guides/connections.md', 'check')
const wordsOf = (line: string) => commandLinesIn(line)[0] ?? []

let stage: Stage
let ada: Terminal
let provider: FakeProvider

beforeAll(async () => {
  stage = await sharedStage({ names: [API] })
  stage.names.set(MCP, ['127.0.0.1'])
  ada = await openAccount(stage.app, freshEmail('ada'))
  await ada.must('init', 'payments')
  const faults = { acceptsAnyPath: true }
  provider = await startProvider({ authority: stage.authority, host: MCP, faults })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  ada.write('app.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
})
afterAll(async () => {
  ada.remove()
  await provider.stop()
  await stage.stop()
})

const presetIn = (words: readonly string[]): Preset | undefined =>
  presets[words[words.indexOf('--provider') + 1] ?? '']

/** Sends what is for the real endpoints to the fake one. */
function redirected(preset: Preset | undefined) {
  const send = loopbackFetch(provider.certificate)
  const targets = new Map([
    [preset?.authorizeUrl ?? 'https://id.example.com/authorize', '/auth'],
    [preset?.tokenUrl ?? 'https://id.example.com/token', '/token'],
  ])
  return (address: string, init?: RequestInit) => {
    const url = new URL(address)
    if (url.protocol === 'http:') return send(address, init)
    const path = targets.get(`${url.origin}${url.pathname}`) ?? url.pathname
    // The fake provider has no scopes of real ones.
    if (path === '/auth' && targets.has(`${url.origin}${url.pathname}`))
      url.searchParams.set('scope', 'openid api')
    return send(`${provider.url}${path}${url.search}`, init)
  }
}

function argumentsOf(words: readonly string[], preset: Preset | undefined): string[] {
  const { none, post } = provider.otherClients
  const clients = { basic: provider.clientId, post, none }
  const id = clients[preset?.clientAuth ?? 'none']
  const args = words.map((word) => (word === 'YOUR_CLIENT_ID' ? id : word))
  if (words.includes('aws_role')) return [...args, '--secret-key-stdin']
  const isSecret = preset !== undefined && preset.clientAuth !== 'none'
  return isSecret ? [...args, '--client-secret-stdin'] : args
}

test('the page has ten providers and the four other ways to connect', () => {
  const named = lines.flatMap((line) => presetIn(wordsOf(line)) ?? [])
  expect(new Set(named).size).toBe(10)
  for (const name of ['--url', '--authorize-url', 'github_app', 'aws_role']) {
    expect(lines.filter((line) => line.includes(name)).length).toBeGreaterThan(0)
  }
})

/** Runs a command with the provider's client and a browser that completes the flow. */
async function connect(words: readonly string[], preset: Preset | undefined, secret: string) {
  const send = redirected(preset)
  provider.setFault({
    editRedirect: (parameters) => {
      if (preset?.issuer !== undefined) parameters.set('iss', preset.issuer)
    },
    // The page names the server without a port.
    editResource: (metadata) => {
      metadata.resource = 'https://mcp.example.com/mcp'
    },
  })
  const { code, err } = await ada.run([...words, '--wait', '8s'], {
    stdin: secret,
    providers: {
      providerFetch: send as never,
      openBrowser: (url) => void openInBrowser(url, send).catch(() => {}),
    },
  })
  expect({ code, err }).toMatchObject({ code: 0 })
}

test.each(lines)('%s', async (line) => {
  const words = wordsOf(line)
  const preset = presetIn(words)
  const secret = words.includes('aws_role') ? 'wJalrXUtnFEMIexampleKEY' : provider.clientSecret
  await connect(argumentsOf(words, preset), preset, secret)
  const out = await ada.must('secrets', 'show', words[1] ?? '')
  expect(out).toContain('never renewed')
})

const rootOf = async (name: string) => JSON.parse(await ada.reveal('secrets', 'get', name))

test('reconnecting repeats the flow with the stored client and scope', async () => {
  const before = await rootOf('GOOGLE_TOKEN')
  await connect(wordsOf(reconnect), presets.google, provider.clientSecret)
  const { refresh_token, ...after } = await rootOf('GOOGLE_TOKEN')
  expect({ ...after, refresh_token: before.refresh_token }).toEqual(before)
  expect(refresh_token).not.toBe(before.refresh_token)
})

test('the call of the page sends a renewed access token to the API', async () => {
  // Replaces Google's token endpoint, and a scope that the fake provider does not have.
  const test = { token_url: provider.tokenUrl, scope: 'api' }
  const root = { ...(await rootOf('GOOGLE_TOKEN')), ...test }
  const set = ['secrets', 'set', 'GOOGLE_TOKEN', '--kind', 'oauth2', '--stdin']
  expect((await ada.run(set, { stdin: JSON.stringify(root) })).code).toBe(0)
  await ada.must('policy', 'set', 'GOOGLE_TOKEN', '--domains', stage.authorityOf(API))
  await ada.must('allowlist', 'add', stage.authorityOf(API))
  await ada.must('agent', 'create', 'deploy-bot', '--save')
  expect(await ada.must(...wordsOf(call.replace(API, stage.authorityOf(API))))).toContain(
    '"ok":true',
  )
  const [received] = stage.upstream.received
  expect(received?.path).toBe('/drive/v3/files')
  const token = received?.header('authorization')?.replace('Bearer ', '') ?? ''
  expect(await provider.isLive(token)).toBe(true)
  expect(await ada.must(...wordsOf(show))).toMatch(
    /^state +valid until .+\nnext_renewal +by a call .+\nlast_error +none$/m,
  )
})
