// tier: all
/** Runs every `connect` command of docs/guides/connections.md against a fake provider. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { type Preset, presets } from '../../src/client/connect/presets.ts'
import { openAccount, type Terminal } from '../cli/person.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { loopbackFetch, openInBrowser } from '../support/oauth/browser.ts'
import { type FakeProvider, startProvider } from '../support/oauth/provider.ts'
import { textOf } from './documents.ts'

const page = textOf('docs/guides/connections.md')
const lines = [...page.matchAll(/^cloakroom (connect .*)$/gm)].map(([, line = '']) => line)

let app: TestApp
let ada: Terminal
let provider: FakeProvider

beforeAll(async () => {
  app = await startTestApp()
  ada = await openAccount(app, 'ada@example.com')
  await ada.must('init', 'payments')
  provider = await startProvider({ host: 'mcp.example.com', faults: { acceptsAnyPath: true } })
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  ada.write('app.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
})
afterAll(async () => {
  ada.remove()
  await provider.stop()
  await app.stop()
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
  const named = lines.flatMap((line) => presetIn(line.split(' ')) ?? [])
  expect(new Set(named).size).toBe(10)
  for (const name of ['--url', '--authorize-url', 'github_app', 'aws_role']) {
    expect(lines.filter((line) => line.includes(name)).length).toBeGreaterThan(0)
  }
})

test.each(lines)('%s', async (line) => {
  const words = line.split(' ')
  const preset = presetIn(words)
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
  const { code, err } = await ada.run([...argumentsOf(words, preset), '--wait', '8s'], {
    stdin: words.includes('aws_role') ? 'wJalrXUtnFEMIexampleKEY' : provider.clientSecret,
    providers: {
      providerFetch: send as never,
      openBrowser: (url) => void openInBrowser(url, send).catch(() => {}),
    },
  })
  expect({ code, err }).toMatchObject({ code: 0 })
  const out = await ada.must('secrets', 'show', words[1] ?? '')
  expect(out).toContain('never renewed')
})
