/**
 * Every run of the tests is a canary run: the secrets that they store carry one mark, and everything that stores or
 * prints data is searched for it. A place that contains it fails the run.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** The places that are searched; `dump` only with PostgreSQL. */
const sinks = ['log', 'output', 'answer', 'database', 'dump', 'state', 'browser'] as const
export type Sink = (typeof sinks)[number]

const ROOT = join(import.meta.dir, '..', '..')

/** Both halves of a run, and programs that a test starts, derive the same mark from it; it is not secret itself. */
process.env.CANARY_SEED ??= randomBytes(16).toString('hex')
const digest = createHash('sha256').update(process.env.CANARY_SEED).digest('hex')
/** Lower case and alphanumeric: no client, host name or encoding of URLs changes it on the way. */
const MARK = `canary${digest.slice(0, 20)}`

const forms = Object.entries(formsOf(MARK)).map(
  ([name, text]) => [name, Buffer.from(text)] as const,
)
const LONGEST = Math.max(...forms.map(([, bytes]) => bytes.length))

const leaks = new Set<string>()
const searched = new Set<Sink>()
let arrivals = 0
const ARRIVED = 'arrived'

/** A secret for a test to store. */
export function marked(start: string): string {
  return `${start}${MARK}`
}

/** The forms in which careless code would leave an alphanumeric text behind, by their names. */
export function formsOf(text: string): Record<string, string> {
  const bytes = Buffer.from(text)
  const hex = bytes.toString('hex')
  const percent = hex.replace(/../g, '%$&')
  const aligned = [0, 1, 2].map((lead) => {
    const base64 = Buffer.concat([Buffer.alloc(lead), bytes]).toString('base64')
    return [`base64 at ${lead}`, base64.slice(lead === 0 ? 0 : 4, -4)] as const
  })
  return {
    'it is': text,
    hex,
    'hex in capitals': hex.toUpperCase(),
    'percent-encoded': percent,
    'percent-encoded in capitals': percent.toUpperCase(),
    'a list of bytes': [...bytes].join(','),
    ...Object.fromEntries(aligned),
  }
}

/** Searches a complete text, and keeps the findings for the end of the run. */
export function search(sink: Sink, place: string, content: string | Uint8Array): void {
  if (content.length === 0) return
  const bytes = bytesOf(content)
  searched.add(sink)
  const form = forms.find(([, wanted]) => bytes.includes(wanted))
  if (!form) return
  const safe = place.replaceAll(MARK, '<mark>').slice(0, 200)
  leaks.add(`${sink}, in ${relative(ROOT, Bun.main)}: ${safe}, as ${form[0]}`)
}

function bytesOf(content: string | Uint8Array): Buffer {
  if (typeof content === 'string') return Buffer.from(content)
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength)
}

/** Searches a text that arrives in pieces. */
export function searcher(sink: Sink, place: string): (piece: Uint8Array) => void {
  let tail = Buffer.alloc(0)
  return (piece) => {
    const text = Buffer.concat([tail, piece])
    search(sink, place, text)
    tail = text.subarray(Math.max(0, text.length - LONGEST + 1))
  }
}

/** Searches all files of a directory, and their names. */
export function searchFiles(sink: Sink, directory: string, except: readonly string[] = []): void {
  for (const entry of listFiles(directory)) {
    const name = relative(directory, join(entry.parentPath, entry.name))
    if (except.some((path) => name.startsWith(path))) continue
    search(sink, `the name ${name}`, name)
    if (entry.isFile()) search(sink, `the file ${name}`, readIfThere(join(directory, name)))
  }
}

/** Data that an external API received, which proves that marked secrets are really sent. */
export function noteArrival(bytes: Buffer): void {
  if (bytes.includes(MARK)) arrivals += 1
}

/** The places that contained the mark. Each finding is returned once. */
export function takeLeaks(): string[] {
  const taken = [...leaks]
  leaks.clear()
  return taken
}

/** Stores what this process has searched, for the process that runs them all. */
export function reportSearched(directory: string): void {
  const seen: string[] = arrivals > 0 ? [...searched, ARRIVED] : [...searched]
  for (const name of seen) writeFileSync(join(directory, name), '')
}

/** Places that a whole run should have searched but did not: the canary could not see them. */
export function blindSpots(
  searched: ReadonlySet<string>,
  { hasPostgres, hasBrowser }: { hasPostgres: boolean; hasBrowser: boolean },
): string[] {
  const absent = new Set([...(hasPostgres ? [] : ['dump']), ...(hasBrowser ? [] : ['browser'])])
  const silent: string[] = sinks.filter((sink) => !searched.has(sink) && !absent.has(sink))
  return searched.has(ARRIVED) ? silent : [...silent, 'no marked secret arrived at an API']
}

/** A directory that is deleted, or being deleted, needs no search. */
function listFiles(directory: string) {
  return ifThere(() => readdirSync(directory, { recursive: true, withFileTypes: true })) ?? []
}

function readIfThere(path: string): Buffer {
  return ifThere(() => readFileSync(path)) ?? Buffer.alloc(0)
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
