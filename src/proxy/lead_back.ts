/**
 * Links in answers that come through the resolver. It knows where they lead, and has guarded them: it writes a
 * name in place of this proxy's address, drawn for one call, so that no upstream can write it.
 */
import { randomBytes } from 'node:crypto'
import type { BodyMemory } from '../platform/limits/body_memory.ts'
import { beginningAtEndOf } from '../platform/partial_match.ts'
import { holdShort, wholeOf } from './request.ts'

/** Stands for the proxy's address in one answer. */
export function drawLinkName(): string {
  return `l${randomBytes(16).toString('hex')}.invalid`
}

type Led = {
  /** The headers of the answer. */
  received: Record<string, string>
  name: string
  /** The proxy's own address, which the answer gets instead of the name. */
  linkBase: string
  bodies: BodyMemory
}

export async function leadBack(
  response: Response,
  { received, name, linkBase, bodies }: Led,
): Promise<Response> {
  const [written, own] = [`https://${name}`, linkBase]
  const headers = new Headers(
    Object.entries(received).map(([key, value]) => [key, value.replaceAll(written, own)]),
  )
  const held = holdShort(response, bodies)
  if (held) {
    return wholeOf(response, held, headers, (bytes) => {
      const text = Buffer.from(bytes)
      return text.includes(written) ? replacedIn(text, written, own) : bytes
    })
  }
  const body = response.body?.pipeThrough(replacing(written, own)) ?? null
  return new Response(body, { status: response.status, headers })
}

function replacedIn(bytes: Buffer, written: string, own: string): Buffer<ArrayBuffer> {
  return Buffer.from(bytes.toString('latin1').replaceAll(written, own), 'latin1')
}

/** At most the length of one name is held back. */
function replacing(written: string, own: string): TransformStream<Uint8Array, Uint8Array> {
  let held = Buffer.alloc(0)
  return new TransformStream({
    transform: (chunk, controller) => {
      const bytes = Buffer.concat([held, chunk])
      const kept = beginningAtEndOf(bytes, written)
      held = bytes.subarray(bytes.length - kept)
      const done = bytes.subarray(0, bytes.length - kept)
      if (done.length > 0) controller.enqueue(replacedIn(done, written, own))
    },
    flush: (controller) => {
      if (held.length > 0) controller.enqueue(held)
    },
  })
}
