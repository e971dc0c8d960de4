/** The file format around the lines of a backup: compressed, encrypted to recipients, and streamed. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { Decrypter, Encrypter } from 'age-encryption'
import { syncPath } from '../../database/embedded/template_archive.ts'
import { BackupProblem } from './problem.ts'
import { asDiskFull } from './room.ts'

/** Longer than any row, and short enough to buffer. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
const AGE = 'age-encryption.org/v1\n'
/** The header of age, which age's reader does not bound: one line for each recipient and more. */
const MAX_AGE_HEADER = 256 * 1024

/** @throws BackupProblem for an invalid recipient */
export function encrypterFor(recipients: readonly string[]): Encrypter | null {
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (error) {
      throw new BackupProblem('usage', 'a recipient must be an age public key: age1…', error)
    }
  }
  return recipients.length === 0 ? null : encrypter
}

/**
 * Writes to a `.part` file, which is renamed when it is complete and synced. Of two writers with the same name, the
 * later one succeeds.
 */
export async function writeWhole<T>(path: string, write: (part: string) => Promise<T>): Promise<T> {
  const demandNone = () => {
    if (existsSync(path)) throw buildExistingProblem(path)
  }
  demandNone()
  // Another process that removes the `.part` file creates its own, and this one finds its file missing.
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  try {
    removePartsOf(path)
    const result = await write(part)
    if (!existsSync(part)) throw new BackupProblem('failed', `another backup to ${path} started`)
    syncPath(part)
    demandNone()
    renameSync(part, path)
    syncPath(dirname(path))
    return result
  } catch (error) {
    rmSync(part, { force: true })
    throw asDiskFull(error, path)
  }
}

function buildExistingProblem(path: string): BackupProblem {
  return statSync(path).isDirectory()
    ? new BackupProblem('file_exists', `${path} is a folder`, null, `pass a file: ${path}/backup`)
    : new BackupProblem(
        'file_exists',
        `${path} already exists`,
        null,
        'pass another file, or delete it first',
      )
}

/** Removes the parts that a killed process left. A process that is still writing one is then refused. */
function removePartsOf(path: string): void {
  const [folder, name] = [dirname(path), basename(path)]
  for (const each of readdirSync(folder)) {
    const isPart =
      each.startsWith(`${name}.`) && /^\.([0-9a-f]{8}\.)?part$/.test(each.slice(name.length))
    if (isPart) rmSync(join(folder, each), { force: true })
  }
}

/** Writes a new file from the lines of `produce`, which waits for a slow disk. */
export async function writeLines<T>(
  path: string,
  encrypter: Encrypter | null,
  produce: (take: (text: string) => Promise<void>) => Promise<T>,
): Promise<T> {
  const lines = new PassThrough()
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 })
  const compressed = lines.pipe(createGzip({ level: 1 }))
  const written = encrypter
    ? encryptStream(encrypter, compressed).then((stream) => pipeline(stream, file))
    : pipeline(compressed, file)
  // A full disk also ends `produce`, which would otherwise wait forever.
  const failed = written.then(() => new Promise<never>(() => {}))
  failed.catch(() => {})
  const take = async (text: string) => {
    if (!lines.write(text)) await Promise.race([once(lines, 'drain'), failed])
  }
  try {
    const result = await produce(take)
    lines.end()
    await written
    return result
  } catch (error) {
    lines.destroy()
    compressed.destroy()
    file.destroy()
    await written.catch(() => {})
    throw error
  }
}

async function encryptStream(encrypter: Encrypter, source: Readable): Promise<Readable> {
  const stream = await encrypter.encrypt(webStream(source))
  return Readable.from(stream)
}

/** Returns a stream with the web's type; the two declarations differ. */
function webStream(source: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(source) as unknown as ReadableStream<Uint8Array>
}

/** Yields the lines of an untrusted file: any number, of bounded length each. */
export async function* linesOf(
  path: string,
  identities: readonly string[],
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let pieces: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of await openPlain(path, identities)) {
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        pieces.push(chunk.subarray(from, end))
        yield decoder.decode(Buffer.concat(pieces))
        pieces = []
        length = 0
        from = end + 1
      }
      pieces.push(Buffer.from(chunk.subarray(from)))
      length += chunk.length - from
      if (length > MAX_LINE_BYTES) throw buildDamagedProblem('a line is too long')
    }
  } catch (error) {
    throw error instanceof BackupProblem ? error : buildDamagedProblem('it cannot be read', error)
  }
  if (length > 0) throw buildDamagedProblem('it is truncated')
}

async function openPlain(path: string, identities: readonly string[]): Promise<Readable> {
  const start = await startOf(path)
  const source = createReadStream(path)
  const isAge = start.subarray(0, AGE.length).toString('latin1') === AGE
  const compressed = isAge ? await decryptStream(source, { start, identities }) : source
  const plain = createGunzip()
  // An error reaches the reader of the pipeline's end.
  pipeline(compressed, plain).catch(() => {})
  return plain
}

async function startOf(path: string): Promise<Buffer> {
  const file = await open(path).catch((error: unknown) => {
    throw new BackupProblem('invalid_file', `${path} cannot be read`, error)
  })
  try {
    const buffer = Buffer.alloc(MAX_AGE_HEADER)
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    throw new BackupProblem('invalid_file', `${path} cannot be read`, error)
  } finally {
    await file.close()
  }
}

async function decryptStream(
  source: Readable,
  { start, identities }: { start: Buffer; identities: readonly string[] },
): Promise<Readable> {
  if (!start.includes('\n---')) throw buildDamagedProblem('its header is incomplete')
  if (identities.length === 0) {
    throw new BackupProblem(
      'usage',
      'the backup is encrypted: pass its age key with --identity key.txt',
    )
  }
  const decrypter = new Decrypter()
  for (const identity of identities) decrypter.addIdentity(identity)
  try {
    return Readable.from(await decrypter.decrypt(webStream(source)))
  } catch (error) {
    throw new BackupProblem('invalid_file', 'the given age keys cannot decrypt the backup', error)
  }
}

/** Returns the keys in a file that `age-keygen` wrote. @throws BackupProblem if it is missing */
export async function identitiesIn(path: string): Promise<string[]> {
  const text = (await startOf(path)).toString('utf8')
  const found = text.split('\n').flatMap((line) => line.trim().match(/^AGE-SECRET-KEY-\S+$/) ?? [])
  try {
    for (const identity of found) new Decrypter().addIdentity(identity)
    if (found.length > 0) return found
  } catch {
    // Reported below, because the cause may hold the key.
  }
  throw new BackupProblem('invalid_file', `${path} has no valid age key`)
}

export function buildDamagedProblem(why: string, cause?: unknown): BackupProblem {
  return new BackupProblem('invalid_file', `the backup is invalid: ${why}`, cause)
}
