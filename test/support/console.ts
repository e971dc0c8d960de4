/** Requests in the form of the console's own page in a browser. */

export type InCookies = { access?: string; refresh?: string }

/** The headers that the browser sends for a page of the same origin with these tokens in its cookies. */
export function ofConsole(tokens: InCookies = {}): Record<string, string> {
  return {
    'x-cloakroom-console': '1',
    'sec-fetch-site': 'same-origin',
    ...(Object.keys(tokens).length === 0 ? {} : { cookie: cookieHeader(tokens) }),
  }
}

export function cookieHeader(tokens: InCookies): string {
  return Object.entries(tokens)
    .map(([kind, token]) => `__Host-cloakroom-${kind}=${token}`)
    .join('; ')
}

/** The tokens that an answer put into cookies. */
export function cookiesOf(headers: Headers): InCookies {
  const cookies = headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
  const ours = cookies.map((cookie) => /^__Host-cloakroom-(access|refresh)=(.*)$/.exec(cookie))
  return Object.fromEntries(ours.flatMap((match) => (match ? [[match[1], match[2]]] : [])))
}
