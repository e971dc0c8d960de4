/**
 * The Model Context Protocol over standard input and output, one message per line. An invalid message gets an error
 * response (JSON-RPC 2.0), because a client without a response would wait, and reading continues.
 */
import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { fromUtf8 } from '../../core/crypto/encoding.ts'

const MOST_MIB = 10
const MOST_BYTES = MOST_MIB * 1_048_576
/** The ends of a longer line that are kept to find its ID. */
const END_BYTES = 256
const NEWLINE = 10
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

type Line = { parts: Buffer[]; size: number; end: Buffer }
type Id = string | number | null
type Refusal = { id: Id; code: number; refused: string }

export class StdioTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  readonly #input: Readable
  readonly #output: Writable
  #line = emptyLine()

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.on('end', this.#end)
  }

  async close(): Promise<void> {
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#end)
    this.#input.pause()
    this.onclose?.()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message)
  }

  readonly #end = () => void this.close()

  readonly #read = (chunk: Buffer) => {
    let from = 0
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      extend(this.#line, chunk.subarray(from, to))
      const line = this.#line
      this.#line = emptyLine()
      this.#take(line)
      from = to + 1
    }
    extend(this.#line, chunk.subarray(from))
  }

  #take(line: Line): void {
    const taken = messageIn(line)
    if (taken === null) return
    if ('refused' in taken) this.#refuse(taken.id, taken.code, taken.refused)
    else this.onmessage?.(taken.message)
  }

  #refuse(id: Id, code: number, message: string): void {
    void this.#write({ jsonrpc: '2.0', id, error: { code, message } })
  }

  #write(message: unknown): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.write(`${JSON.stringify(message)}\n`)) resolve()
      else this.#output.once('drain', resolve)
    })
  }
}

/** `null` for a line that asks for nothing. */
function messageIn(line: Line): { message: JSONRPCMessage } | Refusal | null {
  if (line.size > MOST_BYTES) {
    const refused = `a line has more than ${MOST_MIB} MiB`
    return { id: idOfLong(line), code: INVALID_REQUEST, refused }
  }
  const text = fromUtf8(Buffer.concat(line.parts))
  if (text?.trim() === '') return null
  const given = text === null ? undefined : parseOrUndefined(text)
  if (given === undefined) return { id: null, code: PARSE_ERROR, refused: 'a line is not JSON' }
  const message = messageOf(given)
  if (message) return { message }
  // Messages that claim to be a response get no response.
  if (answerLike.safeParse(given).success) return null
  const refused = 'a line is not a JSON-RPC 2.0 message'
  return { id: idOf(given), code: INVALID_REQUEST, refused }
}

function emptyLine(): Line {
  return { parts: [], size: 0, end: Buffer.alloc(0) }
}

/** Keeps the first part and the last bytes of a line that is too long. */
function extend(line: Line, part: Buffer): void {
  if (part.length === 0) return
  line.size += part.length
  if (line.size <= MOST_BYTES) {
    line.parts.push(part)
    return
  }
  const [start = part] = line.parts
  const before = line.end.length > 0 ? line.end : (line.parts.at(-1) ?? line.end)
  line.parts = [Buffer.from(start.subarray(0, END_BYTES))]
  const end = Buffer.concat([before.subarray(-END_BYTES), part.subarray(-END_BYTES)])
  line.end = end.subarray(-END_BYTES)
}

const id = z.union([z.string(), z.number()])
const withId = z.looseObject({ id })
const answerLike = z.union([
  z.looseObject({ result: z.unknown() }),
  z.looseObject({ error: z.unknown() }),
])

function idOf(given: unknown): Id {
  const found = withId.safeParse(given)
  return found.success ? found.data.id : null
}

/** Clients write the id as one of the first or the last members; a brace at the very end closes the message. */
function idOfLong({ parts, end }: Line): Id {
  const first = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15}|"[^"\\]*")\s*,/
  const last = /,\s*"id"\s*:\s*(\d{1,15}|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/
  const found = first.exec(String(parts[0])) ?? last.exec(String(end))
  return found?.[1] === undefined ? null : id.parse(JSON.parse(found[1]))
}

/** `undefined` for invalid JSON. */
function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Rejects messages that are nested too deeply. */
function messageOf(given: unknown): JSONRPCMessage | null {
  try {
    return JSONRPCMessageSchema.parse(given)
  } catch {
    return null
  }
}
