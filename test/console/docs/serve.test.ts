// tier: quick
/** The documentation as the server delivers it: addresses, headers, links, search index and llms.txt. */
import { beforeAll, expect, test } from 'bun:test'
import type { SearchIndex } from '../../../src/console/docs/contents.ts'
import { withoutComments } from '../../../src/console/docs/headings.ts'
import { type Docs, openDocs } from '../../../src/console/docs/serve.ts'
import { searchPages } from '../../../src/console/web/docs/search.ts'
import { ensureDocs } from '../../../src/dev/docs/index.ts'
import { sharedApp, type TestApp } from '../../support/app.ts'

let app: TestApp
let docs: Docs

beforeAll(async () => {
  await ensureDocs()
  docs = await openDocs()
  app = await sharedApp()
})

const ask = (path: string, init: RequestInit = {}) =>
  docs.respond(new Request(`https://vault.example${path}`, init))
const fetchPath = (path: string, init: RequestInit = {}) =>
  fetch(`${app.controlPlane}${path}`, init)

const markdown = [...new Bun.Glob('**/*.md').scanSync(`${import.meta.dir}/../../../docs`)].sort()
const pathOf = (name: string) =>
  name === 'index.md' ? '/docs/' : `/docs/${name.slice(0, -'.md'.length)}`

test('every page of docs/ is served as HTML and as the Markdown that is in the repository', async () => {
  expect(markdown.length).toBeGreaterThan(20)
  for (const name of markdown) {
    const page = ask(pathOf(name))
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html;charset=utf-8',
    ])
    expect(await page.text()).toContain('<h1 id="')
    const source = ask(`/docs/${name}`)
    expect(source.headers.get('content-type')).toBe('text/markdown;charset=utf-8')
    const file = await Bun.file(`${import.meta.dir}/../../../docs/${name}`).text()
    expect(await source.text()).toBe(withoutComments(file))
  }
})

test('every link and picture of every page leads to an address that is served, and to an anchor that exists', async () => {
  const pages = new Map<string, string>()
  for (const name of markdown) pages.set(pathOf(name), await ask(pathOf(name)).text())
  const broken: string[] = []
  let count = 0
  for (const [path, html] of pages) {
    for (const [, to = ''] of html.matchAll(
      /<(?:a|img|link|script)\b[^>]*? (?:href|src)="([^"]*)"/g,
    )) {
      if (/^(https?:|mailto:|data:)|^\/console\/$/.test(to)) continue
      count += 1
      const { pathname, hash } = new URL(to, `https://vault.example${path}`)
      const target = ask(pathname)
      const anchor = decodeURIComponent(hash.slice(1))
      const hasAnchor = anchor === '' || pages.get(pathname)?.includes(` id="${anchor}"`)
      if (target.status !== 200 || !hasAnchor) broken.push(`${path} -> ${to}`)
    }
  }
  expect(count).toBeGreaterThan(1000)
  expect(broken).toEqual([])
})

test('no page has an inline script or style, and raw HTML of a page is shown as text', async () => {
  for (const name of markdown) {
    const html = await ask(pathOf(name)).text()
    expect(html).not.toMatch(/<style|<script(?! src="\/docs\/assets\/)|<[^>]*\s(?:style|on\w+)=/)
  }
})

test('the server answers GET and HEAD without authentication, with the strict policy and an ETag', async () => {
  const page = await fetchPath('/docs/guides/agents')
  expect(page.status).toBe(200)
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'cache-control': 'no-cache',
    'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self' "),
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(page.headers.get('content-security-policy')).not.toContain('unsafe-inline')
  const etag = page.headers.get('etag') ?? ''
  const again = await fetchPath('/docs/guides/agents', { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const head = await fetchPath('/docs/guides/agents', { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(1000)
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const refused = await fetchPath('/docs/guides/agents', { method })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
  const style = /href="(\/docs\/assets\/style-[0-9a-f]+\.css)"/.exec(await page.text())?.[1] ?? ''
  expect((await fetchPath(style)).headers.get('cache-control')).toContain('immutable')
})

test('an address that is not in the table is answered with 404, and no path leads out of the table', async () => {
  for (const path of [
    '/docs/gone',
    '/docs/guides',
    '/docs/guides/',
    '/docs/assets/gone.js',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/..%2fpackage.json',
    '/docs//etc/passwd',
    '/docs/guides%2Fagents',
    '/docs/constructor',
    '/docs/guides/agents.html',
  ]) {
    const answer = ask(path)
    expect({ path, status: answer.status }).toEqual({ path, status: 404 })
    expect(await answer.text()).not.toContain('"dependencies"')
  }
  const served = await fetchPath('/docs/gone')
  expect(served.status).toBe(404)
  expect(await served.text()).toContain('<title>Page not found · Cloakroom</title>')
})

test('/docs leads to the start page, and the resolver serves no documentation', async () => {
  expect(await (await fetchPath('/docs')).text()).toBe(await ask('/docs/').text())
  const refused = await fetch(`${app.resolver}/docs/`)
  expect(refused.status).toBe(404)
})

test('llms.txt has a title, a summary and a line for each page with a link to its Markdown', async () => {
  const answer = await fetchPath('/llms.txt')
  expect(answer.headers.get('content-type')).toBe('text/plain;charset=utf-8')
  const text = await answer.text()
  expect(text).toMatch(/^# Cloakroom documentation\n\n> .+\n\n## Start\n\n- \[/)
  const links = [...text.matchAll(/^- \[.+?\]\(\/docs\/(.+?)\): .+$/gm)].map(([, name]) => name)
  expect(links.sort()).toEqual(markdown.filter((name) => name !== 'index.md'))
})

test('a tag that a proxy weakened counts, other spellings of an address lead to the page, and comments are left out', async () => {
  const etag = (await fetchPath('/docs/guides/teams')).headers.get('etag') ?? ''
  for (const tags of [`W/${etag}`, `"other", ${etag}`, '*']) {
    const { status } = await fetchPath('/docs/guides/teams', { headers: { 'if-none-match': tags } })
    expect({ tags, status }).toEqual({ tags, status: 304 })
  }
  const plain = await fetchPath('/docs/guides/teams', {
    headers: { 'accept-encoding': 'gzip;q=0' },
  })
  expect(plain.headers.get('content-encoding')).toBeNull()
  for (const path of ['/docs', '/docs/index', '/docs/guides/teams/'])
    expect({ path, status: (await fetchPath(path)).status }).toEqual({ path, status: 200 })
  const pages = ['/docs/guides/teams', '/docs/guides/teams.md', '/docs/reference/cli.md']
  for (const path of pages) expect(await (await fetchPath(path)).text()).not.toMatch(/<!--|&lt;!--/)
})

test('the search finds a section by beginnings of its words, and the heading counts more than the text', async () => {
  const html = await ask('/docs/').text()
  const address = /data-search="([^"]+)"/.exec(html)?.[1] ?? ''
  const index: SearchIndex = JSON.parse(await ask(address).text())
  expect(index.length).toBe(markdown.length - 1)
  const [first] = searchPages(index, 'server ke')
  expect(first).toMatchObject({ href: '/docs/guides/server-keys', layer: 'Guides' })
  expect(searchPages(index, 'domain_blocked')[0]).toMatchObject({
    href: '/docs/reference/errors#a-call-is-refused',
    heading: 'domain_blocked',
  })
  const found = searchPages(index, 'how do I use github actions').map(({ href }) => href)
  expect(found).toContain('/docs/guides/ci#github-actions')
  expect(searchPages(index, 'rotate after somebody left').length).toBeGreaterThan(0)
  expect(searchPages(index, '')).toEqual([])
  expect(searchPages(index, 'zzz-no-such-word')).toEqual([])
})

test('a search result has an excerpt around the word, and at most 12 sections are found', () => {
  const text = `${'before '.repeat(50)}needle ${'after '.repeat(50)}`
  const sections = Array.from({ length: 20 }, (_, at) => ({ heading: '', anchor: `a-${at}`, text }))
  const hits = searchPages([{ href: '/docs/x', title: 'X', layer: 'Guides', sections }], 'NEED')
  expect(hits).toHaveLength(12)
  expect(hits[0]?.href).toBe('/docs/x#a-0')
  expect(hits[0]?.excerpt).toMatch(/^… before .*needle after .* …$/)
  expect(hits[0]?.excerpt.length).toBeLessThan(130)
  expect(searchPages([{ href: '/', title: '', layer: '', sections }], 'eedle')).toEqual([])
})
