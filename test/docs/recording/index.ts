/**
 * Records the first session of a newcomer, the first tour of the README as the executable answers it, and
 * writes docs/first-session.svg and the time that it took: `bun run recording`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf, linesIn } from '../blocks.ts'
import { ROOT } from '../documents.ts'
import { type Event, takeTour } from '../tour.ts'
import { rowsOf, type Span } from './screen.ts'
import { draw, type Line } from './svg.ts'

const KEYS_PER_SECOND = 4
const KEY_MS = 1000 / KEYS_PER_SECOND
const SPEED = 5
/** How long the end stays, in the time of the recording. */
const END_MS = 30_000

const README = join(ROOT, 'README.md')
const page = readFileSync(README, 'utf8')
const [first = []] = blocksOf('README.md', 'tour').map(linesIn)
const { answers, place, addresses } = await takeTour('README.md')

let nowMs = 0
const lines: Line[] = []
for (const line of first.filter((text) => !text.startsWith('cd '))) {
  const { ms, events } = answers.find((answer) => answer.line === line) ?? { ms: 0, events: [] }
  type(line)
  const { rows, typedMs } = await rowsOf(events.map(settled), KEY_MS)
  lines.push(...rows.map(({ spans, atMs }) => ({ spans, atMs: nowMs + atMs })))
  nowMs += ms + typedMs
}
const seconds = Math.round(nowMs / 1000)
const took = `${Math.floor(seconds / 60)} min ${seconds % 60} s`
const title = `The first session: ${took}, typed at ${KEYS_PER_SECOND} keys a second`
const svg = draw({ title, lines, lengthMs: nowMs + END_MS, speed: SPEED })
writeFileSync(join(ROOT, 'docs/first-session.svg'), svg)
writeFileSync(
  README,
  page.replace(/\d+ min \d+ s, typed at \d+ keys a second/, title.replace(/^.*?: /, '')),
)
process.stdout.write(`${title}; ${svg.length} bytes\n`)

/** Draws a typed line, with its README comment above. */
function type(line: string): void {
  const [, command = line, comment] = /^(.*?)(?:\s+# (.*))?$/s.exec(line) ?? []
  if (lines.length > 0) lines.push({ spans: [], atMs: nowMs })
  if (comment !== undefined)
    lines.push({ spans: [{ text: `# ${comment}`, look: 'dim' }], atMs: nowMs })
  for (const [index, text] of command.split('\n').entries()) {
    const spans: Span[] = [{ text: `${index === 0 ? '$' : '>'} ${text}`, look: 'plain' }]
    lines.push({ spans, atMs: nowMs, keyMs: KEY_MS })
    nowMs += text.length * KEY_MS
  }
}

/** Addresses and paths as a newcomer has them, and a recovery key that opens nothing. */
function settled(event: Event): Event {
  if ('typed' in event) return event
  const [server, resolver] = addresses.map((address) => new URL(address).host)
  if (!server || !resolver) return event
  const shown = event.shown
    .replaceAll(server, '127.0.0.1:8000')
    .replaceAll(resolver, '127.0.0.1:8080')
    .replaceAll(place, '~')
    .replace(/\b([0-9a-f]{8}-){7}[0-9a-f]{8}\b/, Array(8).fill('deadbeef').join('-'))
  return { ...event, shown }
}
