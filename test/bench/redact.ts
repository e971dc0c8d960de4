/** `bench redact`: what it costs to look through a megabyte for credentials in all their encodings. */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { Sanitiser } from '../../src/leak_guard/sanitise.ts'
import { figure, markdownTable, median } from './measure.ts'

const BYTES = 1_048_576
const COUNTS = [1, 10, 50] as const

export async function benchRedact(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { rounds: { type: 'string', default: '9' } } })
  const samples = new Map<string, number[]>()
  const credentials = Array.from({ length: Math.max(...COUNTS) }, () =>
    randomBytes(24).toString('hex'),
  )
  const texts = textsWith(credentials[0] ?? '')
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const [kind, text] of Object.entries(texts)) {
      for (const count of COUNTS) {
        const ms = cpuMsOf(text, credentials.slice(0, count))
        const key = `${kind}/${count}`
        // The first round is for the compiler.
        if (round > 0) samples.set(key, [...(samples.get(key) ?? []), ms])
      }
    }
  }
  const rows = Object.keys(texts).map((kind) => [
    kind,
    ...COUNTS.map((count) => figure(median(samples.get(`${kind}/${count}`) ?? []))),
  ])
  const head = ['CPU ms per MB', ...COUNTS.map((count) => `${count} credentials`)]
  process.stdout.write(`${markdownTable(head, rows)}\n`)
}

function cpuMsOf(text: Uint8Array, credentials: readonly string[]): number {
  const before = process.cpuUsage()
  new Sanitiser(credentials.map((credential) => Buffer.from(credential))).redactBody(text)
  const { user, system } = process.cpuUsage(before)
  return ((user + system) / 1000) * (2 ** 20 / text.length)
}

/** What APIs answer, and what an upstream could answer to make the search slow. */
function textsWith(credential: string): Record<string, Uint8Array> {
  const item = { id: 'ch_1001', amount: 4200, currency: 'eur', note: 'a "quoted" note & more\n' }
  const json = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => ({ ...item, at })))
  return {
    'JSON of an API': filled(json),
    base64: filled(randomBytes(BYTES).toString('base64')),
    'random bytes': randomBytes(BYTES),
    'hostile: beginnings of a credential': filled(credential.slice(0, -1)),
    'hostile: escapes': filled('&amp;#x25;'),
    'hostile: the credential throughout': filled(`${credential} `),
  }
}

function filled(text: string): Uint8Array {
  const unit = Buffer.from(text)
  return new Uint8Array(Buffer.alloc(BYTES, unit))
}
