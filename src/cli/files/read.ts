/**
 * Reads untrusted files: a repository can contain a link, a pipe or a device with an expected name. Only regular files
 * of limited size are read.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { type Host, pathFrom } from '../host.ts'
import { CliError } from '../terminal/cli_error.ts'

const MIB = 1_048_576
const MOST_OF_OWN = 4 * MIB
const MOST_OF_SETTINGS = 65_536
const MOST_OF_NAMED = 64 * MIB
const CHUNK = 65_536
/** Standard input, and the pipe of `<(command)`. */
const INPUT = /^(-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/
const STREAM = /^(-|\/dev\/(stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/

/** A file of the user's own configuration as text; `null` if it does not exist. @throws CliError */
export function readOwnFile(path: string): string | null {
  return read(path, { most: MOST_OF_OWN, flags: 0 })?.toString('utf8') ?? null
}

/** Also returns links, which are then refused and not ignored. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** A regular file in a folder that may belong to someone else; `null` if it does not exist. @throws CliError */
export function readProjectText(path: string): string | null {
  return (
    read(path, { most: MOST_OF_SETTINGS, flags: constants.O_NOFOLLOW })?.toString('utf8') ?? null
  )
}

/**
 * The file given to a command; `-` is standard input. In the current folder no link that leads out of it
 * is followed: the person may not know that it is one.
 *
 * @throws CliError
 */
export function readNamedFile(host: Host, path: string): Buffer {
  if (STREAM.test(path)) return readStream(host, path)
  demandInside(host, path)
  const bytes = read(path, { most: MOST_OF_NAMED, flags: 0, file: pathFrom(host, path) })
  if (bytes) return bytes
  throw new CliError('invalid_file', `${path} does not exist`)
}

/** @throws CliError for a path below the folder, the current one unless given, that links lead out of it */
export function demandInside(host: Host, path: string, here: string = host.cwd): void {
  const real = realPathOf(pathFrom(host, path))
  const isBelow = !leadsOut(here, resolve(host.cwd, path))
  if (real === null || !isBelow || !leadsOut(realpathSync(here), real)) return
  throw new CliError(
    'invalid_file',
    `${path} is a link to a file outside of this folder, so it is not followed`,
    `to use it, give the file itself: ${real}`,
  )
}

function leadsOut(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '..' || way.startsWith('../') || isAbsolute(way)
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** `file` is where the file is, if that is not its name in messages. */
type Bounds = { most: number; flags: number; file?: string }

function read(path: string, { most, flags, file: place = path }: Bounds): Buffer | null {
  const file = openForReading(path, place, flags)
  if (file === null) return null
  try {
    const stat = fstatSync(file)
    const kind = stat.isDirectory() ? 'a folder' : 'not a regular file'
    if (!stat.isFile()) throw new CliError('invalid_file', `${path} is ${kind}`)
    return readFully(file, path, most)
  } finally {
    closeSync(file)
  }
}

/** Does not wait for the writer of a pipe. */
function openForReading(path: string, place: string, flags: number): number | null {
  try {
    return openSync(place, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new CliError(
      'invalid_file',
      code === 'ELOOP'
        ? `${path} is a link, so it is not followed`
        : `${path} cannot be read (${code})`,
    )
  }
}

function readStream({ streams }: Host, path: string): Buffer {
  const { stdin } = streams
  const isOwn = stdin === process.stdin || !INPUT.test(path)
  const bytes = isOwn ? readFileSync(path === '-' ? 0 : path) : Buffer.from(stdin.read() ?? '')
  if (bytes.length > MOST_OF_NAMED) throw buildTooLongError(path, MOST_OF_NAMED)
  return bytes
}

function readFully(file: number, name: string, most: number): Buffer {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.alloc(CHUNK)
    const length = readSync(file, chunk)
    if (length === 0) return Buffer.concat(chunks)
    size += length
    if (size > most) throw buildTooLongError(name, most)
    chunks.push(chunk.subarray(0, length))
  }
}

function buildTooLongError(name: string, most: number): CliError {
  return new CliError('invalid_file', `${name} is too long: the limit is ${most} bytes`)
}
