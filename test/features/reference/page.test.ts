// tier: quick
/** The documentation is served by the application itself, and by no other host. */
import { beforeAll, expect, test } from 'bun:test'
import { listAllEndpoints } from '../../../src/dev/all_endpoints.ts'
import { sharedApp, startTestApp, type TestApp } from '../../support/app.ts'

let app: TestApp

beforeAll(async () => {
  app = await sharedApp()
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${app.controlPlane}${path}`, { headers, redirect: 'error' })

const paths = ['', '/', '/json', '/json/', '/own.json', '/swagger-ui.js', '/swagger-ui.css']

test.each(paths)(
  '/api/docs%s passes the host check and carries the common headers',
  async (path) => {
    const response = await get(`/api/docs${path}`)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    })
    const refused = await get(`/api/docs${path}`, { host: 'evil.example' })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error_code: 'invalid_host' })
  },
)

test('the page loads script, style and document from this server only', async () => {
  const page = await (await get('/api/docs/')).text()
  const loaded = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, target]) => target)
  expect(loaded.sort()).toEqual(['/api/docs/swagger-ui.css', '/api/docs/swagger-ui.js'])
  expect(page).not.toMatch(/https?:\/\//)
  expect(page).toContain('"url":"/api/docs/own.json"')
  expect(page).toContain('"validatorUrl":"none"')
})

test('the policy of the page admits its own inline script by hash, and no other', async () => {
  const response = await get('/api/docs/')
  const page = await response.text()
  const policy = response.headers.get('content-security-policy') ?? ''
  const inline = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text)
  expect(inline).toHaveLength(1)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(inline[0]))
  expect(policy).toContain(`'sha256-${new Uint8Array(digest).toBase64()}'`)
  expect(policy).toStartWith("default-src 'none'; script-src 'self' 'sha256-")
  expect(policy).not.toContain('unsafe')
  expect(policy).toContain("frame-ancestors 'none'")
  expect(page).not.toMatch(/<style|\sstyle=|\son\w+=/)
})

test('script and style have their declared content type', async () => {
  const script = await get('/api/docs/swagger-ui.js')
  expect(script.headers.get('content-type')).toStartWith('text/javascript')
  expect(await script.text()).toContain('SwaggerUIBundle')
  const style = await get('/api/docs/swagger-ui.css')
  expect(style.headers.get('content-type')).toStartWith('text/css')
  expect(await style.text()).toContain('.swagger-ui')
})

test('the document lists every operation of both listeners', async () => {
  const { status, body, headers } = await app.call('GET', '/api/docs/json')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toStartWith('application/json')
  const { openapi, paths } = body as {
    openapi: string
    paths: Record<string, Record<string, { operationId: string }>>
  }
  expect(openapi).toBe('3.1.0')
  const listed = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  const names = listAllEndpoints().flatMap(({ endpoints }) => endpoints.map(({ name }) => name))
  expect(listed.sort()).toEqual([...new Set(names)].sort())
})

const operationIds = async (url: string) => {
  const { paths, servers } = (await (await fetch(url)).json()) as {
    paths: Record<string, Record<string, { operationId: string; servers?: { url: string }[] }>>
    servers: { url: string }[]
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  return { servers, operations, ids: operations.map(({ operationId }) => operationId).sort() }
}

test('each listener shows its own operations, so the page sends requests only to its own server', async () => {
  for (const [index, origin] of [app.controlPlane, app.resolver].entries()) {
    const page = await fetch(`${origin}/api/docs/`)
    expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'")
    expect(await page.text()).toContain('"url":"/api/docs/own.json"')
    const { ids, servers, operations } = await operationIds(`${origin}/api/docs/own.json`)
    expect(ids).toEqual(
      listAllEndpoints()
        [index]?.endpoints.map(({ name }) => name)
        .sort() ?? [],
    )
    expect(servers.map(({ url }) => url)).toEqual(['/'])
    expect(operations.filter((one) => one.servers)).toEqual([])
  }
})

test('the document of each listener links to the documentation on the control plane', async () => {
  const linkOf = async (address: string) => (await (await fetch(address)).json()).externalDocs
  const description = 'Documentation'
  expect(await linkOf(`${app.controlPlane}/api/docs/own.json`)).toEqual({
    description,
    url: '/docs/',
  })
  const { url } = await linkOf(`${app.resolver}/api/docs/own.json`)
  expect(url).toMatch(/^https?:\/\/[^/]+\/docs\/$/)
})

test("a request in the form of the resolver's page is answered", async () => {
  const response = await fetch(`${app.resolver}/v1/resolve`, {
    method: 'POST',
    headers: {
      origin: app.resolver,
      'content-type': 'application/json',
      authorization: 'Bearer svc_agt_x',
    },
    body: '{}',
  })
  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ error_code: 'invalid_token' })
})

test('the addresses in the settings match those of the document', async () => {
  const configured = await startTestApp({
    SERVICE_SERVER_URL: 'https://vault.example.com/base/',
    SERVICE_RESOLVER_URL: 'https://resolver.example.com',
  })
  try {
    const { servers, operations } = await operationIds(`${configured.controlPlane}/api/docs/json`)
    expect(servers).toEqual([expect.objectContaining({ url: 'https://vault.example.com/base' })])
    const resolve = operations.find(({ operationId }) => operationId === 'resolver.resolve')
    expect(resolve?.servers).toEqual([
      expect.objectContaining({ url: 'https://resolver.example.com' }),
    ])
  } finally {
    await configured.stop()
  }
})

test('another method is 405, an unknown file 404', async () => {
  const post = await app.call('POST', '/api/docs/', { body: {} })
  expect(post.status).toBe(405)
  expect(post.headers.get('allow')).toBe('GET, HEAD')
  expect((await app.call('GET', '/api/docs/swagger-ui.js.map')).status).toBe(404)
})
