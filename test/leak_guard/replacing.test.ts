// tier: quick
import { describe, expect, test } from 'bun:test'
import { prepareGuard, prepareGuardInSteps } from '../../src/leak_guard/guard.ts'
import { HELD } from '../../src/leak_guard/hold.ts'

const utf8 = (text: string) => new Uint8Array(Buffer.from(text))
const named = (record: Record<string, string>) =>
  Object.entries(record).map(([name, value]) => ({ name, bytes: utf8(value) }))
const guardOf = (values: Record<string, string>, used: Record<string, string> = {}) =>
  prepareGuard(named(values)).forCall({ used: named(used) })
const guarded = (values: Record<string, string>, text: string, used: Record<string, string> = {}) =>
  Buffer.from(guardOf(values, used).body(utf8(text))).toString()

const KEY = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc'
const PEM = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu
-----END PRIVATE KEY-----`

describe('credentials that were sent encoded', () => {
  const SENT = Buffer.from('user:SVC_SECRET_A').toString('base64')
  const WRITTEN = Buffer.from(`user:${KEY}`).toString('base64')
  const made = { name: 'A', bytes: utf8(WRITTEN), sent: SENT }
  const guard = () =>
    prepareGuard(named({ A: KEY })).forCall({ used: named({ A: KEY }), made: [made] })
  const read = (bytes: Uint8Array) => Buffer.from(bytes).toString()

  test.each([
    ['a header', `Basic ${WRITTEN}`, `Basic ${SENT}`],
    ['text', `> Authorization: Basic ${WRITTEN}\r\n`, `> Authorization: Basic ${SENT}\r\n`],
    ['text without padding', `<${WRITTEN.replace(/=+$/, '')}>`, `<${SENT}>`],
    ['JSON', `{"h":"Basic ${WRITTEN}"}`, `{"h":"Basic ${SENT}"}`],
    [
      'JSON with escapes',
      `{"h":"Basic ${WRITTEN.replaceAll('S', '\\u0053')}"}`,
      `{"h":"Basic ${SENT}"}`,
    ],
    ['the value alone', `<${KEY}>`, '<SVC_SECRET_A>'],
  ])('credentials are returned in their sent form in %s', (_, text, expected) => {
    expect(read(guard().body(utf8(text)))).toBe(expected)
    const stream = guard().stream()
    const pieces = [...utf8(text)].map((byte) => read(stream.push(Uint8Array.of(byte))))
    expect(pieces.join('') + read(stream.flush())).toBe(expected)
  })

  test('credentials are returned in their sent form if the whole text is the value', () => {
    const whole = Buffer.from(KEY).toString('base64')
    const sent = Buffer.from('SVC_SECRET_A').toString('base64')
    const values = { used: named({ A: KEY }), made: [{ name: 'A', bytes: utf8(whole), sent }] }
    const call = prepareGuard(named({ A: KEY })).forCall(values)
    expect(call.headerValue(`Basic ${whole}`)).toBe(`Basic ${sent}`)
  })
})

describe('the replacement of a value', () => {
  test.each([
    ['plain text', { A: KEY }, `x ${KEY} y`, {}, 'x SVC_SECRET_A y'],
    [
      'two side by side',
      { A: 'abcdefgh1', B: 'ijklmnop2' },
      'abcdefgh1ijklmnop2',
      {},
      'SVC_SECRET_ASVC_SECRET_B',
    ],
    [
      'one within another',
      { A: 'cdefghij', B: 'abcdefghijkl' },
      '<abcdefghijkl>',
      {},
      '<SVC_SECRET_B>',
    ],
    ['the shorter alone', { A: 'cdefghij', B: 'abcdefghijkl' }, '<cdefghij>', {}, '<SVC_SECRET_A>'],
    [
      'two that overlap: the longer',
      { A: 'abcdefgh', B: 'efghijklm' },
      '<abcdefghijklm>',
      {},
      '<SVC_SECRET_B>',
    ],
    ['one that overlaps itself', { A: 'ababababab' }, '<abababababab>', {}, '<SVC_SECRET_A>'],
    ['several names: the first in byte order', { B: KEY, A: KEY, a: KEY }, KEY, {}, 'SVC_SECRET_A'],
    ['several names: the one that was used', { B: KEY, A: KEY }, KEY, { B: KEY }, 'SVC_SECRET_B'],
    ['a value trimmed', { A: `  ${KEY}\n` }, `<${KEY}>`, {}, '<SVC_SECRET_A>'],
    [
      'keys that differ in their last bits',
      { A: 'test-secret-1', B: 'test-secret-2' },
      Buffer.from('x:test-secret-2').toString('base64'),
      {},
      'eDSVC_SECRET_B',
    ],
    ['a word of a value', { A: 'user hunter2hunter2' }, '<hunter2hunter2>', {}, '<[REDACTED]>'],
    [
      'a word without digits',
      { A: 'correct horsebattery' },
      '<horsebattery>',
      {},
      '<horsebattery>',
    ],
    [
      'a leaf of JSON',
      { A: '{"user":"somebody","pass":"hunter22"}' },
      '<hunter22>',
      {},
      '<[REDACTED]>',
    ],
    [
      'a leaf without digits',
      { A: '{"user":"somebody","pass":"hunter22"}' },
      '<somebody>',
      {},
      '<somebody>',
    ],
    ['PEM with CRLF', { A: PEM }, `<${PEM.replaceAll('\n', '\r\n')}>`, {}, '<SVC_SECRET_A>'],
    ['a line of PEM', { A: PEM }, `<${PEM.split('\n')[1]}>`, {}, '<[REDACTED]>'],
    ['PEM armour', { A: PEM }, '-----BEGIN PRIVATE KEY-----', {}, '-----BEGIN PRIVATE KEY-----'],
    [
      'hexadecimal in the other case',
      { A: 'deadbeef0badcafe' },
      '<DEADBEEF0BADCAFE>',
      {},
      '<SVC_SECRET_A>',
    ],
    [
      'a UUID without dashes',
      { A: '123e4567-e89b-12d3-a456-426614174000' },
      '<123E4567E89B12D3A456426614174000>',
      {},
      '<SVC_SECRET_A>',
    ],
    ['Latin-1 bytes', { A: 'pässwörd1' }, '<p\\xe4ssw\\xf6rd1>', {}, '<SVC_SECRET_A>'],
    ['no value', { A: KEY }, 'x sk_live_4eC39HqLyjXX y', {}, 'x [REDACTED] y'],
    ['15 characters of one', { A: KEY }, KEY.slice(3, 18), {}, KEY.slice(3, 18)],
    ['its first 16 characters', { A: KEY }, `<${KEY.slice(0, 16)}>`, {}, '<[REDACTED]>'],
    ['its last 16 characters', { A: KEY }, `<${KEY.slice(-16)}>`, {}, '<[REDACTED]>'],
    [
      '30 characters without a window',
      { A: `${KEY}${KEY}` },
      `<${`${KEY}${KEY}`.slice(1, 31)}>`,
      {},
      `<${`${KEY}${KEY}`.slice(1, 31)}>`,
    ],
    [
      '31 characters anywhere',
      { A: `${KEY}${KEY}` },
      `<${`${KEY}${KEY}`.slice(1, 32)}>`,
      {},
      '<[REDACTED]>',
    ],
    [
      'the host of a URL',
      { A: 'https://hooks.example-company.com/services/T00/B00/abcdefgh12345678' },
      'hooks.example-company.com',
      {},
      'hooks.example-company.com',
    ],
    [
      'the path of a URL',
      { A: 'https://hooks.example-company.com/services/T00/B00/abcdefgh12345678' },
      '</services/T00/B00/abcd>',
      {},
      '<[REDACTED]>',
    ],
  ] as const)('%s', (_, values, text, used, expected) => {
    const record: Record<string, string> = { ...values }
    expect(guarded(record, text, { ...used })).toBe(expected)
    // Replaced text no longer contains the value.
    expect(guarded(record, expected, { ...used })).toBe(expected)
  })

  test("the replacement of a derived form has the value's name", () => {
    const pair = Buffer.from('user:hunter2!').toString('base64')
    const guard = prepareGuard([]).forCall({ made: [{ name: 'PASS', bytes: utf8(pair) }] })
    expect(Buffer.from(guard.body(utf8(`Basic ${pair}`))).toString()).toBe('Basic SVC_SECRET_PASS')
    expect(guard.headerValue(`Basic ${encodeURIComponent(pair)}`)).toBe('Basic SVC_SECRET_PASS')
    expect(guard.isRedacted).toBe(true)
  })
})

describe('JSON stays JSON', () => {
  test.each([
    ['a string', { a: KEY, b: 1 }, { a: 'SVC_SECRET_A', b: 1 }],
    ['a key', { [KEY]: 1 }, { SVC_SECRET_A: 1 }],
    ['an array of bytes', { a: [...utf8(KEY)] }, { a: 'SVC_SECRET_A' }],
    ['a Buffer', Buffer.from(KEY), { type: 'Buffer', data: 'SVC_SECRET_A' }],
    ['a part of an array', [1, ...utf8(KEY), 2], [1, 'SVC_SECRET_A', 2]],
    ['the beginning of an array', [...utf8(KEY), 2], ['SVC_SECRET_A', 2]],
    ['the end of an array', [300, ...utf8(KEY)], [300, 'SVC_SECRET_A']],
    ['JSON in JSON', JSON.stringify({ a: [...utf8(KEY)] }), '{"a":SVC_SECRET_A}'],
  ])('%s', (_, given, expected) => {
    for (const indent of [undefined, 2, '\t']) {
      const output = guarded({ A: KEY }, JSON.stringify([given], null, indent))
      expect(JSON.parse(output)).toEqual([expected])
    }
  })

  test.each([
    ['a number', '{"a":123456789012,"b":1}', '{"a":"SVC_SECRET_A","b":1}'],
    ['a part of a number', '{"a":99123456789012.5}', '{"a":"SVC_SECRET_A"}'],
    ['a number at the end', ' [123456789012', ' ["SVC_SECRET_A"'],
    ['in a string', '{"a":"no 123456789012"}', '{"a":"no SVC_SECRET_A"}'],
    ['not JSON', 'a 123456789012', 'a SVC_SECRET_A'],
  ])('%s', (_, text, expected) => {
    expect(guarded({ A: '123456789012' }, text)).toBe(expected)
  })

  test('JSON with a value that is JSON, as an object, stays JSON', () => {
    const value = '{"user":"x1","password":"hunter22hunter22"}'
    expect(guarded({ A: value }, `{"a":${value},"b":1}`)).toBe('{"a":"SVC_SECRET_A","b":1}')
    expect(guarded({ A: value }, JSON.stringify({ a: value }))).toBe('{"a":"SVC_SECRET_A"}')
  })

  test('an escape before a value is not cut', () => {
    expect(guarded({ A: 'nabcdefgh' }, '{"a":"x\\nabcdefgh"}')).toBe('{"a":"xSVC_SECRET_A"}')
    expect(guarded({ A: '0041bcdef' }, '{"a":"\\u0041bcdef"}')).toBe('{"a":"SVC_SECRET_A"}')
  })
})

describe('headers', () => {
  const guard = guardOf({ A: KEY, B: 'pässwörd1' })
  test('JSON with an escaped value stays JSON', () => {
    expect(guard.headerValue(`id=${KEY}; ü €`)).toBe('id=SVC_SECRET_A; ü €')
    const wire = Buffer.from('pässwörd1; ü').toString('latin1')
    expect(guard.headerValue(wire)).toBe(`SVC_SECRET_B; ${Buffer.from('ü').toString('latin1')}`)
    expect(guard.headerValue('nothing ü')).toBe('nothing ü')
  })
  test('a name is compared without case in JSON', () => {
    expect(guard.isGuardedName(`x-${KEY.toLowerCase()}-y`)).toBe(true)
    expect(guard.isGuardedName(KEY.toUpperCase())).toBe(true)
    expect(guard.isGuardedName('content-type')).toBe(false)
    expect(guardOf({}, { PIN: 'Ab12' }).isGuardedName('x-ab12')).toBe(true)
  })
})

describe('a stream', () => {
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
  test('an event is sent whole with the chunk that completes it', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1000 }, (_, at) => [`K${at}`, `sk_live_${at}abcdef${at}`]),
    )
    const stream = guardOf({ A: KEY, ...many }).stream({ frames: 'events' })
    for (const event of [
      'data: {"delta":"Hel"}\n\n',
      'data: {"delta":"lo & more"}\n\n',
      'data: [DONE]\n\n',
      'data: the last\n\n',
      'data: other line ends\r\n\r\n',
      ': ping\r\r',
    ]) {
      expect(text(stream.push(utf8(event)))).toBe(event)
    }
    const part = ['data: one\n\ndata: ', 'two\r\n\r', '\ndata'].map((chunk) =>
      stream.push(utf8(chunk)),
    )
    expect(part.map(text)).toEqual(['data: one\n\n', '', 'data: two\r\n\r\n'])
    expect(text(stream.flush())).toBe('data')
  })
  test('a line of JSON is sent whole with the chunk that completes it', () => {
    for (const frames of ['lines', 'json'] as const) {
      const stream = guardOf({ A: KEY }).stream({ frames })
      for (const line of ['{"line":1}\n', '[1,2]\r\n', `{"line":"${KEY}"}\n`]) {
        expect(text(stream.push(utf8(line)))).toBe(line.replace(KEY, 'SVC_SECRET_A'))
      }
      expect(text(stream.push(utf8('"word"\n')))).toBe(frames === 'lines' ? '"word"\n' : '')
    }
  })
  test('the end of a stream waits, whatever it is, and the text before it does not', () => {
    const stream = guardOf({ A: 'sk_live_0123456789abcdef' }).stream()
    const [before, after] = ['(some) '.repeat(100), '(more) '.repeat(100)]
    const first = text(stream.push(utf8(`${before}key: sk_live_0123`)))
    expect(first).toBe(before.slice(0, before.length - HELD + 17))
    const second = text(stream.push(utf8(`456789abcdef. ${after}`)))
    const whole = `${before}key: SVC_SECRET_A. ${after}`
    expect(first + second).toBe(whole.slice(0, -HELD))
    expect(first + second + text(stream.flush())).toBe(whole)
    expect(stream.isRedacted).toBe(true)
  })
  test('text that may be one encoded text waits together', () => {
    const stream = guardOf({ A: KEY }).stream()
    const encoded = Buffer.from(`${KEY} `.repeat(40)).toString('base64')
    expect(text(stream.push(utf8(`(so) ${encoded.slice(0, 1000)}`)))).toBe('(so) ')
    const spaced = guardOf({ A: KEY }).stream()
    const hex = [...utf8(KEY)].map((byte) => byte.toString(16)).join(' ')
    expect(text(spaced.push(utf8(`(so) ${hex} `.repeat(9))))).not.toContain(' 73 ')
    expect(text(spaced.push(utf8('(end)'))) + text(spaced.flush())).not.toContain(' 73 ')
  })
  test('words, lines and fragments of a longer value that arrives in pieces are found', () => {
    const words = Array.from({ length: 60 }, (_, at) => `passphrase${at} (and) x`).join(' ')
    const pem = PEM.replace('\n-----END', `\n${KEY.repeat(200)}\n-----END`)
    for (const [value, least] of [
      [words, 40],
      [pem, 100],
    ] as const) {
      const stream = guardOf({ A: value }).stream()
      const chunks = value.match(/.{1,7}/gs) ?? []
      const given = chunks.map((chunk) => text(stream.push(utf8(chunk)))).join('')
      const output = given + text(stream.flush())
      expect(output).toMatch(/^[^0-9]*(.*\[REDACTED\])/s)
      expect(output).not.toMatch(/phrase[0-9]|[A-Za-z0-9+/]{31}/)
      expect(value.length - output.length).toBeGreaterThan(least)
    }
  })
  test('a truncated escape waits for its end', () => {
    const stream = guardOf({ A: 'a"secret"value' }).stream()
    const given = ['x a&quo', 't;secret\\u00', '22value y\n'].map((part) => stream.push(utf8(part)))
    expect(given.map(text).join('') + text(stream.flush())).toBe('x SVC_SECRET_A y\n')
  })
  test('a stream keeps none of the text that it replaces, also endlessly', () => {
    const stream = guardOf({ A: 'aaaaaaaa' }).stream()
    const pieces: Uint8Array[] = []
    for (let pause = 0; pause < 500; pause++) pieces.push(stream.push(utf8('a'.repeat(1000))))
    pieces.push(stream.push(utf8('\n\n')), stream.flush())
    expect(Buffer.concat(pieces).toString()).toBe('SVC_SECRET_A\n\n')
  })
  test('a stream gives a value of 64 KiB its name, and waits no longer than for its next checkpoint', () => {
    const word = (at: number) => at.toString(2).replaceAll('0', 'o').replaceAll('1', 'l')
    const lines = Array.from({ length: 1000 }, (_, at) => `line ${word(at)} of a long value`)
    const long = lines.join('\n')
    const stream = guardOf({ A: long }).stream()
    const output = [
      stream.push(utf8(`x ${long.slice(0, 40_000)}`)),
      stream.push(utf8(`${long.slice(40_000)} y`)),
    ]
    expect(text(Buffer.concat([...output, stream.flush()]))).toBe('x SVC_SECRET_A y')
    const other = guardOf({ A: long }).stream()
    const start = long.slice(0, 200)
    expect(text(other.push(utf8(`${start}${'. '.repeat(200)}`)))).toStartWith(start.slice(0, 100))
  })
})

test('steps give the result of the whole, and pause several times in between', async () => {
  const guard = guardOf({ A: KEY })
  const body = utf8(`${'x'.repeat(32_760)}${KEY}${'y'.repeat(100_000)}`)
  let pauses = 0
  const pause = async () => void pauses++
  expect(await guard.bodyInSteps(body, {}, pause)).toEqual(guard.body(body))
  // Steps end by the amount of work, and some bytes cause more than others.
  expect(pauses).toBeGreaterThanOrEqual(8)
  pauses = 0
  const many = Array.from({ length: 300 }, (_, at) => ({
    name: `K${at}`,
    bytes: utf8(`${KEY}${at}`),
  }))
  const prepared = await prepareGuardInSteps(many, pause)
  expect(pauses).toBeGreaterThan(2)
  expect(Buffer.from(prepared.forCall().body(utf8(`${KEY}77`))).toString()).toBe('SVC_SECRET_K77')
})
