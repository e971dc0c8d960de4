/**
 * Signs an upload to S3 in chunks (`aws-chunked`) again: each chunk's signature, and the trailer's, is replaced while
 * the body streams. Nothing else of the body changes, nor its length.
 */
import { Fault } from '../../core/fault.ts'
import { type AwsSigningKey, sha256Hex } from '../../core/signing/aws_sigv4.ts'

/** Bytes of one chunk, which is held until its signature is known. Clients send at most a few MiB. */
const MAX_CHUNK = 8 * 1024 * 1024
const MAX_LINE = 16 * 1024
const HEAD = /^([0-9a-f]{1,8})(;chunk-signature=)[0-9a-f]{64}$/i
const NAME = /^([^:]*):/
const TRAILER = /^(x-amz-trailer-signature:)[0-9a-f]{64}$/i
const NOTHING = sha256Hex('')

/** The start of the chain of signatures: the signature of the request's head. */
export type Seed = {
  stamp: string
  signature: string
  /** Names in the trailer, in lower case. */
  declared: readonly string[]
}

export function resignChunks(
  key: AwsSigningKey,
  seed: Seed,
): TransformStream<Uint8Array, Uint8Array> {
  const chunks = new Chunks(key, seed)
  return new TransformStream({
    transform: (bytes, controller) => {
      for (const piece of chunks.push(bytes)) controller.enqueue(piece)
    },
    flush: () => chunks.end(),
  })
}

class Chunks {
  readonly #key: AwsSigningKey
  readonly #stamp: string
  readonly #declared: readonly string[]
  #previous: string
  #received: Uint8Array[] = []
  #size = 0
  /** Bytes needed for the next step. */
  #wanted = 1
  #trailer: string[] | null = null
  /** Whether the body is complete. */
  #isComplete = false

  constructor(key: AwsSigningKey, { stamp, signature, declared }: Seed) {
    this.#key = key
    this.#stamp = stamp
    this.#previous = signature
    this.#declared = declared
  }

  /** @throws Fault `invalid_header` for a body that is not in chunks */
  *push(bytes: Uint8Array): Generator<Uint8Array> {
    this.#received.push(bytes)
    this.#size += bytes.length
    if (this.#size < this.#wanted) return
    let rest: Buffer = Buffer.concat(this.#received)
    for (let read = this.#readNext(rest); read; read = this.#readNext(rest)) {
      rest = rest.subarray(read.length)
      yield read.bytes
    }
    this.#received = [rest]
    this.#size = rest.length
  }

  end(): void {
    if (this.#trailer === null || this.#size > 0) throw buildMalformedFault()
  }

  #readNext(bytes: Buffer): { length: number; bytes: Uint8Array } | null {
    if (this.#isComplete && bytes.length > 0) throw buildMalformedFault()
    this.#wanted = bytes.length + 1
    const end = bytes.indexOf('\r\n')
    if (end < 0 && bytes.length > MAX_LINE) throw buildMalformedFault()
    if (end < 0) return null
    const line = bytes.toString('latin1', 0, end)
    if (this.#trailer === null) return this.#chunk(bytes, line)
    return { length: end + 2, bytes: Buffer.from(`${this.#trailerLine(line)}\r\n`, 'latin1') }
  }

  #chunk(bytes: Buffer, line: string): { length: number; bytes: Uint8Array } | null {
    const [, digits = '', name = ''] = HEAD.exec(line) ?? []
    const size = Number.parseInt(digits, 16)
    if (digits === '' || size > MAX_CHUNK) throw buildMalformedFault()
    const from = line.length + 2
    // The trailer, or an empty line, follows the last chunk.
    const length = from + (size === 0 ? 0 : size + 2)
    this.#wanted = length
    if (bytes.length < length) return null
    const data = bytes.subarray(from, from + size)
    if (size > 0 && bytes.toString('latin1', from + size, length) !== '\r\n')
      throw buildMalformedFault()
    if (size === 0) this.#trailer = []
    const signature = this.#sign('PAYLOAD', [NOTHING, sha256Hex(data)])
    const head = Buffer.from(`${digits}${name}${signature}\r\n`)
    return { length, bytes: Buffer.concat([head, bytes.subarray(from, length)]) }
  }

  /** Lines of the trailer are signed together, each ended by one character. */
  #trailerLine(line: string): string {
    const [, name] = TRAILER.exec(line) ?? []
    if (name !== undefined && this.#declared.length > 0) {
      const lines = (this.#trailer ?? []).map((each) => `${each}\n`).join('')
      return `${name}${this.#sign('TRAILER', [sha256Hex(lines)])}`
    }
    if (line === '') this.#isComplete = true
    else if (this.#declared.includes(NAME.exec(line)?.[1]?.toLowerCase() ?? ''))
      this.#trailer?.push(line)
    else throw buildMalformedFault()
    return line
  }

  #sign(what: 'PAYLOAD' | 'TRAILER', hashes: string[]): string {
    const { algorithm, scope } = this.#key
    const text = [`${algorithm}-${what}`, this.#stamp, scope, this.#previous, ...hashes]
    this.#previous = this.#key.sign(text.join('\n'))
    return this.#previous
  }
}

function buildMalformedFault(): Fault {
  return new Fault('invalid_header', {
    message: 'The headers declare signed chunks, but the body has none.',
  })
}
