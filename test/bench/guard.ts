/** `bench guard`: CPU milliseconds per megabyte that the leak guard takes for answers of all kinds. */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { prepareGuard } from '../../src/leak_guard/guard.ts'
import { benchHostileAnswers } from './guard_hostile.ts'
import { cpuMs, figure, markdownTable, median } from './measure.ts'

const BYTES = 1_048_576
const COUNTS = [1, 16, 1000] as const
/** The first rounds are for the compiler, whose threads are counted too. */
const WARM_UP = 6
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

export async function benchGuard(args: string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '5' }, only: { type: 'string' } } as const
  const { values } = parseArgs({ args, options })
  const secrets = Array.from({ length: Math.max(...COUNTS) }, (_, at) => ({
    name: `KEY_${at}`,
    bytes: bytesOf(
      `sk_live_${randomBytes(24).toString('hex')}${randomBytes(8).toString('base64')}`,
    ),
  }))
  const guards = COUNTS.map((count) => prepareGuard(secrets.slice(0, count)).forCall())
  const rows = Object.entries(textsWith(Buffer.from(secrets[0]?.bytes ?? []).toString()))
    .filter(([kind]) => kind.includes(values.only ?? ''))
    .map(([kind, text]) => [
      kind,
      ...guards.map((guard) => {
        const samples: number[] = []
        for (let round = -WARM_UP; round < Number(values.rounds); round++) {
          const ms = cpuMs(() => void guard.body(text)) * (BYTES / text.length)
          if (round >= 0) samples.push(ms)
        }
        return figure(median(samples))
      }),
    ])
  const head = ['CPU ms per MB', ...COUNTS.map((count) => `${count} values`)]
  process.stdout.write(`${markdownTable(head, rows)}\n\n`)
  const preparing = cpuMs(() => void prepareGuard(secrets))
  if (!values.only) benchHostileAnswers(Number(values.rounds))
  process.stdout.write(`Preparing ${secrets.length} values: ${figure(preparing)} ms\n`)
}

/** Answers of ordinary APIs, and answers that an upstream could give to make the search slow. */
function textsWith(secret: string): Record<string, Uint8Array> {
  const item = { id: 'ch_1001', amount: 4200, currency: 'eur', note: 'a "quoted" note & more\n' }
  const json = JSON.stringify(Array.from({ length: 12_000 }, (_, at) => ({ ...item, at })))
  const repository = Array.from({ length: 1_500 }, (_, at) => ({
    id: at * 7919,
    node_id: randomBytes(12).toString('base64'),
    full_name: `octocat/Hello-World-${at}`,
    url: `https://api.github.com/repos/octocat/Hello-World-${at}`,
    branches_url: `https://api.github.com/repos/octocat/Hello-World-${at}/branches{/branch}`,
    description: 'My first repository on GitHub!\nWith "quotes" & more.',
    pushed_at: '2011-01-26T19:06:43Z',
    owner: { login: 'octocat', id: 1, site_admin: false },
    sha: randomBytes(20).toString('hex'),
  }))
  return {
    'JSON of an API': filled(json),
    'JSON full of URLs': filled(JSON.stringify(repository)),
    'pretty JSON': filled(JSON.stringify(repository, null, 2)),
    prose: filled('The quick brown fox jumps over the lazy dog, and nobody minds.\n'),
    base64: filled(randomBytes(BYTES).toString('base64')),
    hexadecimal: filled(randomBytes(BYTES).toString('hex')),
    'random bytes': new Uint8Array(randomBytes(BYTES)),
    'the value throughout': filled(`${secret} `),
    'one letter a': filled('a'),
    'one letter V': filled('V'),
    'one letter A': filled('A'),
    digits: filled('7'),
    'beginnings of values': filled('sk_live_'),
    '&': filled('&'),
    '\\': filled('\\'),
    '%': filled('%'),
    '%73%6b': filled('%73%6b'),
    '\\u0073': filled('\\u0073\\u006b'),
    '&#x25;': filled('&amp;#x25;'),
    '%25': filled('%2573%256b'),
    'base64 of base64': filled(
      Buffer.from(randomBytes(BYTES / 2).toString('base64')).toString('base64'),
    ),
    'base64 of hex': filled(Buffer.from(randomBytes(BYTES / 2).toString('hex')).toString('base64')),
    'percent-encoded base64': filled(
      [...randomBytes(BYTES / 4).toString('base64')]
        .map((digit) => `%${digit.charCodeAt(0).toString(16)}`)
        .join(''),
    ),
    base32: filled(
      Array.from(randomBytes(BYTES), (byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[byte & 31]).join(
        '',
      ),
    ),
    decimals: filled(JSON.stringify([...randomBytes(BYTES / 4)])),
    'UTF-16': new Uint8Array(Buffer.from(json.slice(0, BYTES / 2), 'utf16le')),
    zeros: new Uint8Array(BYTES),
    'decimals 65': filled('65,'),
    'hex of hex': filled('3631'),
  }
}

function filled(text: string): Uint8Array {
  return new Uint8Array(Buffer.alloc(BYTES, Buffer.from(text)))
}
