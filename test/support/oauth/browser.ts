/** A person's browser: keeps cookies, follows redirects and shows the page that it ends on. */
export type ShownPage = { status: number; text: string; url: string; headers: Headers }

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>

/** @param limit the redirects that it follows, 20 by default. */
export async function openInBrowser(start: string, fetcher: Fetch, limit = 20): Promise<ShownPage> {
  const jar = new Map<string, string>()
  let url = start
  for (let hop = 0; hop <= limit; hop += 1) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetcher(url, { headers: { cookie }, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) {
      return {
        status: response.status,
        text: await response.text(),
        url,
        headers: response.headers,
      }
    }
    url = new URL(location, url).href
  }
  throw new Error(`more than ${limit} redirects from ${start}`)
}

/** A `fetch` that trusts a test authority, and resolves every name to loopback. */
export function loopbackFetch(certificate: string): Fetch {
  return (address, init) => {
    const url = new URL(address)
    const { host, hostname } = url
    if (url.protocol === 'http:') return fetch(address, init)
    url.hostname = '127.0.0.1'
    const headers = new Headers(init?.headers)
    headers.set('host', host)
    const tls = { ca: certificate, serverName: hostname }
    return fetch(url, { ...init, headers, tls } as RequestInit)
  }
}
