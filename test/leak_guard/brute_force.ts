/**
 * Whether a text contains a value in any reading, found by brute force: everything is decoded everywhere, twice, and
 * searched. Written independently of the decoders; texts have one character for each byte.
 */

type Decode = (text: string) => string[]

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')
const utf8 = (code: number) => latin1(Buffer.from(String.fromCodePoint(code)))
const isCharacter = (code: number) => code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
const byte = (digits: string) => String.fromCharCode(Number.parseInt(digits, 16))

const PERCENT = '%([0-9a-fA-F]{2})'
const JAVASCRIPT = String.raw`\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|\\(["\\/'${'`'}bfnrtv])`
const HTML =
  '&#([0-9]{1,16});?|&#x([0-9a-f]{1,16});?|&(amp|lt|gt|quot|apos|plus|equals|sol|ouml|auml|uuml);'
const SHORT: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }
const NAMES: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", plus: '+', equals: '=', sol: '/' },
  ...{ ouml: utf8(0xf6), auml: utf8(0xe4), uuml: utf8(0xfc) },
}

function escaped(match: string): string {
  if (match.startsWith('%')) return byte(match.slice(1))
  if (match.startsWith('\\u{')) return character(match, Number.parseInt(match.slice(3, -1), 16))
  if (match.startsWith('\\u')) {
    const units = match
      .split('\\u')
      .slice(1)
      .map((digits) => Number.parseInt(digits, 16))
    return character(match, String.fromCharCode(...units).codePointAt(0) ?? 0)
  }
  if (match.startsWith('\\x')) return byte(match.slice(2))
  if (match.startsWith('\\')) return SHORT[match.slice(1)] ?? match.slice(1)
  const name = match.replace(/^&|;$/g, '')
  if (!name.startsWith('#')) return NAMES[name] ?? match
  const isHex = /^#x/i.test(name)
  return character(match, Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10))
}

const character = (match: string, code: number) => (isCharacter(code) ? utf8(code) : match)

const unescaped =
  (...kinds: string[]): Decode =>
  (text) => [text.replace(new RegExp(kinds.join('|'), 'gi'), escaped)]

const runs = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([run]) => run)

const base64: Decode = (text) =>
  runs(text, /[\w+/-]+(?:\r?\n[\w+/-]+)*/g)
    .map((run) => run.replace(/[\r\n]/g, ''))
    .flatMap((run) => [0, 1, 2, 3].map((at) => latin1(Buffer.from(run.slice(at), 'base64'))))

const hex: Decode = (text) =>
  runs(text, /(?:[0-9a-f]+(?:[:\- +]|\\x|\r\n?|\n)?)+/gi)
    .map((run) => run.replace(/[^0-9a-f]/gi, ''))
    .flatMap((run) => [0, 1].map((at) => latin1(Buffer.from(run.slice(at), 'hex'))))

const decimals: Decode = (text) =>
  runs(text, /(?<![0-9])[0-9]{1,3}(?:\s*,[\s+]*[0-9]{1,3})+/g).map((run) =>
    String.fromCharCode(...run.split(',').map((number) => Number(number.replace('+', '')) & 255)),
  )

const base32: Decode = (text) =>
  [/[A-Z2-7]{7,}/g, /[a-z2-7]{7,}/g].flatMap((pattern) =>
    runs(text, pattern).map((run) => {
      const values = [...run.toUpperCase()].map((digit) =>
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'),
      )
      return (values.join('').match(/.{8}/g) ?? [])
        .map((bits) => String.fromCharCode(Number.parseInt(bits, 2)))
        .join('')
    }),
  )

const DECODERS: Decode[] = [
  unescaped(PERCENT),
  unescaped(JAVASCRIPT),
  unescaped(HTML),
  unescaped(PERCENT, JAVASCRIPT, HTML),
  base64,
  hex,
  decimals,
  base32,
]

const fold = (text: string) => text.replaceAll('+', ' ')

export function holds(text: string, value: string): boolean {
  const once = [text, ...DECODERS.flatMap((decode) => decode(text))]
  const twice = once.flatMap((reading) => DECODERS.flatMap((decode) => decode(reading)))
  return [...once, ...twice].some((reading) => fold(reading).includes(fold(value)))
}
