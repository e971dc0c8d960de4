/** Bytes that no client would send, for every listener alike: requests that hide another, and odd hosts. */
import { rawRequest } from '../support/raw_http.ts'

type Cover = {
  /** The first line of the request that hides another, such as `POST /v1/resolve HTTP/1.1`; its body is JSON. */
  line: string
  /** Its headers without the framing; the first one is Host. */
  headers: readonly string[]
  /** A whole request, which must reach no handler. */
  hidden: string
}

/** RFC 9112, sections 5, 6 and 11.2: each pair of readers that could disagree about the end of a body. */
export function smugglingVectors({ line, headers, hidden }: Cover): [string, string][] {
  const size = hidden.length
  const chunked = 'Transfer-Encoding: chunked'
  const post = (framing: readonly string[], body: string) =>
    rawRequest(line, [...headers, ...framing], body)
  const [host = '', ...others] = headers
  return [
    ['CL.TE', post([`Content-Length: ${5 + size}`, chunked], `0\r\n\r\n${hidden}`)],
    [
      'TE.CL',
      post([chunked, 'Content-Length: 4'], `${size.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`),
    ],
    ['two lengths', post(['Content-Length: 2', `Content-Length: ${2 + size}`], `{}${hidden}`)],
    ['a list of lengths', post([`Content-Length: 2, ${2 + size}`], `{}${hidden}`)],
    ['a negative length', post(['Content-Length: -1'], hidden)],
    ['a signed length', post(['Content-Length: +2'], `{}${hidden}`)],
    ['a hexadecimal length', post(['Content-Length: 0x2'], `{}${hidden}`)],
    ['TE.TE, unknown coding', post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${hidden}`)],
    ['TE.TE, identity', post(['Transfer-Encoding: identity', 'Content-Length: 2'], `{}${hidden}`)],
    ['TE.TE, twice', post([chunked, 'Transfer-Encoding: x'], `0\r\n\r\n${hidden}`)],
    ['TE.TE, quoted', post(['Transfer-Encoding: "chunked"'], `0\r\n\r\n${hidden}`)],
    ['TE.TE, not last', post(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${hidden}`)],
    ['TE.TE, vertical tab', post(['Transfer-Encoding:\x0bchunked'], `0\r\n\r\n${hidden}`)],
    ['space before the colon', post(['Transfer-Encoding : chunked'], `0\r\n\r\n${hidden}`)],
    ['space before the colon of a length', post(['Content-Length : 2'], `{}${hidden}`)],
    ['a bare LF inside a header', post([`X: x\n${chunked}`], `0\r\n\r\n${hidden}`)],
    ['a bare CR inside a header', post([`X: x\r${chunked}`, 'Content-Length: 2'], `{}${hidden}`)],
    [
      'lines that end in LF',
      `${[line, ...headers, 'Content-Length: 2'].join('\n')}\n\n{}${hidden}`,
    ],
    ['obs-fold', post([`X: x\r\n ${chunked}`, 'Content-Length: 2'], `{}${hidden}`)],
    [
      'a folded first header',
      `${line}\r\n ${[host, ...others].join('\r\n')}\r\nContent-Length: 2\r\n\r\n{}${hidden}`,
    ],
    ['NUL in a header', post(['X: a\0b', 'Content-Length: 2'], `{}${hidden}`)],
    ['a chunk extension with LF', post([chunked], `2;a\n{}\r\n0\r\n\r\n${hidden}`)],
    ['chunks that end in LF', post([chunked], `2\n{}\n0\n\n${hidden}`)],
    [
      'a chunk size that overflows',
      post([chunked], `ffffffffffffffff2\r\n{}\r\n0\r\n\r\n${hidden}`),
    ],
    ['a negative chunk size', post([chunked], `-2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk size with 0x', post([chunked], `0x2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ['a chunk that is longer than its size', post([chunked], `2\r\n{}XX0\r\n\r\n${hidden}`)],
    [
      'chunked in HTTP/1.0',
      rawRequest(line.replace('HTTP/1.1', 'HTTP/1.0'), [...headers, chunked], `0\r\n\r\n${hidden}`),
    ],
    ['a request as trailer', post([chunked], `2\r\n{}\r\n0\r\n${hidden}`)],
  ]
}

const OURS = 'Host: localhost'

/** Header lines for a listener that serves at most `localhost`, `127.0.0.1`, `[::1]` and `.example.com`. */
export const strangeHosts: [string, string[]][] = [
  ['another', ['Host: evil.example']],
  ['a suffix', ['Host: evillocalhost']],
  ['a subdomain of an exact name', ['Host: a.localhost']],
  ['another with ours as port', ['Host: evil.example:localhost']],
  ['twice the same', [OURS, OURS]],
  ['ours and another', [OURS, 'Host: evil.example']],
  ['another and ours', ['Host: evil.example', OURS]],
  ['a list', ['Host: localhost, evil.example']],
  ['with path', ['Host: localhost/']],
  ['with path and query', ['Host: localhost/hello/?a=']],
  ['with user information', ['Host: evil@localhost']],
  ['with a port out of range', ['Host: localhost:99999']],
  ['with a port of letters', ['Host: localhost:http']],
  ['with two ports', ['Host: localhost:80:80']],
  ['with a space', ['Host: local host']],
  ['empty', ['Host:']],
]
