// tier: quick
/**
 * A link in an answer must not send a client through Cloakroom to another host with the first host's credentials:
 * neither a link that clients resolve to above its host, nor one that names Cloakroom itself. Tests every place of a
 * link, in every form.
 */
import { describe, expect, test } from 'bun:test'
import { LinkRewriter } from '../../src/outbound/answer/links_in_body.ts'
import {
  forwardPrefixes,
  type LinkBase,
  leadTextBack,
  proxyLinks,
  resolverLinks,
  rewriteLinks,
} from '../../src/outbound/links.ts'

const OWN = 'api.example:2443'
const OTHER = 'other.example:3443'
const ORIGIN = 'http://127.0.0.1:8700'
const PASSWORD_URL = `${ORIGIN}/PaSS_word-1`

const bases: [address: string, base: LinkBase][] = [
  ...forwardPrefixes.map((prefix): [string, LinkBase] => [
    `${ORIGIN}${prefix.slice(0, -1)}`,
    resolverLinks(prefix, () => ORIGIN, null),
  ]),
  [PASSWORD_URL, proxyLinks(PASSWORD_URL, null)],
]

/** Links of the called host that would reach another one, if they were only moved below a base. */
const climbs = ['..', '%2e%2e', '.%2E', 'a/../..', './..', 'a/%2e%2e/%2e%2e'].map(
  (climb) => `https://${OWN}/${climb}/${OTHER}/file`,
)
const climbing = [
  ...climbs,
  `https://${OWN}/a\\..\\..\\${OTHER}/file`,
  `https://${OWN}/.{x}./${OTHER}/file`,
  `https://${OWN}/{/../../${OTHER}/file}`,
]

/** Ways to write an address of Cloakroom itself that selects the other host. */
function ownAddresses(address: string): string[] {
  const { pathname } = new URL(address)
  const place = `${pathname}/${OTHER}/file`
  return [
    `${ORIGIN}${place}`,
    `${ORIGIN.replace('http', 'hTTp')}${place}`,
    `${ORIGIN.replace('127.0.0.1', 'localhost')}${place}`,
    `${ORIGIN.replace('127.0.0.1', '127.1')}${place}`,
    `${ORIGIN.replace('//', '//user@')}${place}`,
    `${ORIGIN}/x/..${place}`,
    `${ORIGIN}/%2e${place}`,
    `${ORIGIN}${place.replace(/^\/(.)/, (_, one) => `/%${one.charCodeAt(0).toString(16)}`)}`,
    `${ORIGIN}${place.replace(/:(\d+)/, '%3a$1')}`,
    `${ORIGIN}${pathname}/${OWN}/../${OTHER}/file`,
    `  ${ORIGIN}${place}`,
    `${ORIGIN.replace('://', ':/')}${place.replaceAll('/', '\\')}`,
  ]
}

type Reader = (link: string, base: LinkBase) => string | undefined

function header(name: string, write: (link: string) => string, read: RegExp): Reader {
  return (link, base) => {
    const headers = { [name]: write(link) }
    rewriteLinks(headers, `https://${OWN}/links`, base)
    return read
      .exec(headers[name] ?? '')?.[1]
      ?.replace(/\\(.)/g, name === 'www-authenticate' ? '$1' : '$&')
  }
}

function inBody(write: (link: string) => string, size: number): Reader {
  return (link, base) => {
    const rewriter = new LinkRewriter(OWN, base)
    const body = Buffer.from(`["\\"${OWN}",${write(link)}]`)
    const pieces: Uint8Array[] = []
    for (let at = 0; at < body.length; at += size) {
      pieces.push(rewriter.push(body.subarray(at, at + size)))
    }
    return JSON.parse(Buffer.concat([...pieces, rewriter.flush()]).toString())[1]
  }
}

const escapeAll = (link: string) =>
  `"${[...link].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`

/** The link that a client reads in each place of an answer that may hold one. */
const places: Record<string, Reader> = {
  location: header('location', (link) => link, /^(.*)$/),
  'content-location': header('content-location', (link) => link, /^(.*)$/),
  link: header('link', (link) => `<${link}>; rel=next`, /<(.*)>/),
  'another header': header('operation-location', (link) => link, /^(.*)$/),
  'a challenge': header(
    'www-authenticate',
    (link) => `Bearer realm="${link.replace(/["\\]/g, '\\$&')}"`,
    /="(.*)"/,
  ),
  JSON: inBody(JSON.stringify, 65_536),
  'JSON in pieces': inBody(JSON.stringify, 5),
  'escaped JSON': inBody(escapeAll, 65_536),
  'escaped JSON in pieces': inBody(escapeAll, 5),
}

/** Whether a client that follows a link calls another host through Cloakroom with the first one's credentials. */
function leadsAside(link: string, address: string): boolean {
  const { pathname, origin } = new URL(link.replace('{x}', ''), `${address}/`)
  const at = new URL(address).pathname
  const isCloakroom = origin === ORIGIN || pathname.startsWith(`${at}/`)
  return isCloakroom && ![`${at}/${OWN}/`, `${at}/~from=`].some((led) => pathname.startsWith(led))
}

describe.each(bases)('links under %s', (address, base) => {
  test.each(Object.entries(places))(
    'no link in %s carries credentials to another host',
    (_, read) => {
      const links = [...climbing, ...ownAddresses(address)]
      const aside = links.filter((link) => leadsAside(read(link, base) ?? 'about:blank', address))
      expect(aside).toEqual([])
    },
  )

  test('an address of Cloakroom for the called host stays unchanged', () => {
    const back = `${address}/${OWN}/next?a=b`
    expect(places.JSON?.(back, base)).toBe(back)
  })

  test('templates of the called host keep their variables', () => {
    for (const rest of ['/users{/name}', '/files{?name,label}', '/compare/{base}...{head}']) {
      expect(places.JSON?.(`https://${OWN}${rest}`, base)).toBe(`${address}/${OWN}${rest}`)
    }
  })
})

describe.each(bases)('a link to %s', (address, base) => {
  // The guard has already searched the answer.
  test.each(['\t', '\n', '\r'])('a link does not join what %j splits', (parting) => {
    for (const text of [
      `${address}/${OTHER}/sk_te${parting}st_1${parting}2`,
      `${address}/${OTHER}/x?key=sk_te${parting}st_1${parting}2`,
      `${address}/ot${parting}her.example/sk_te${parting}st_1${parting}2`,
      `${address.replace(/.$/, `${parting}$&`)}/${OTHER}/sk_te${parting}st_1${parting}2`,
    ]) {
      const link = leadTextBack(text, OWN, base)
      expect([text, link]).toEqual([text, expect.stringContaining(base.link)])
      expect(link).not.toContain('sk_test_12')
    }
  })

  test.each(['\uff53\uff4b-1', 's\u00adk-1', '%73k-1%c2%ad'])(
    'a link does not fold the host %j',
    (name) => {
      const link = leadTextBack(`${address}/${name}.other.example/x`, OWN, base)
      expect(link).toStartWith(`${base.link}~from=${OWN}/`)
      expect(link).not.toContain('sk-1.')
    },
  )
})
