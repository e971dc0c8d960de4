/** URLs that two readers could read differently: the host that the allowlist checks must be the dialled one. */
import fc from 'fast-check'

const label = fc.oneof(
  fc.constantFrom(
    'api',
    'example',
    'com',
    'evil',
    'xn--bcher-kva',
    'bücher',
    'EXAMPLE',
    'ⓔxample',
    '１２７',
    'a_b',
    '%65xample',
    '0x7f',
    '017700000001',
    '2130706433',
  ),
  fc.string({ minLength: 1, maxLength: 6 }),
)
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
  fc.constantFrom(
    'api.example.com',
    'api.example.com.',
    'api.example.com..',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'api.example.com@evil.com',
    'evil.com#api.example.com',
    'evil.com\\api.example.com',
    'api。example。com',
  ),
)
const rest = fc.oneof(
  fc.constantFrom(
    '',
    '/',
    '/v1/../x',
    '/%2e%2e/x',
    '//evil.com/',
    '/a?b=c#d',
    '\\@evil.com',
    '/\t',
    '?@evil.com',
    '#@evil.com',
    '/%00',
  ),
  fc.string({ maxLength: 12 }).map((text) => `/${text}`),
)
const scheme = fc.constantFrom(
  'https://',
  'https:',
  'HTTPS://',
  'https:///',
  'https:\\\\',
  'http://',
  ' https://',
  'https://user@',
  'https://:@',
)
const port = fc.oneof(
  fc.constant(''),
  fc.constantFrom(':443', ':8443', ':0', ':65536', ':00443', ':'),
)

/** Texts that mostly look like URLs; `more` ports, such as that of a listening server. */
export function urls(more: readonly number[] = []): fc.Arbitrary<string> {
  const ports =
    more.length === 0 ? port : fc.oneof(port, fc.constantFrom(...more.map((n) => `:${n}`)))
  return fc.tuple(scheme, host, ports, rest).map((parts) => parts.join(''))
}
