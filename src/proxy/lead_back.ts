/**
 * Rewrites links in answers that come through the resolver. The resolver knows their targets, and has guarded them. It
 * does not know this proxy's address, so it writes a random host name per call, which no upstream can forge. An API
 * that learned the address, for example from a callback URL, could send the client with the API's credentials to
 * another host. So an address that the API wrote is marked as a link from that API.
 */
import { randomBytes } from 'node:crypto'
import type { BodyMemory } from '../core/body_memory.ts'
import { beginningAtEndOf } from '../core/policy/partial_match.ts'
import { hasStrings, LinkRewriter } from '../outbound/answer/links_in_body.ts'
import { rangesAt } from '../outbound/answer/part.ts'
import { kindOf } from '../outbound/answer/response.ts'
import { type LinkBase, proxyLinks, rewriteOwnLinks } from '../outbound/links.ts'
import { holdShort, wholeOf } from './request.ts'

/** Represents the proxy's address in one answer. */
export function drawLinkName(): string {
  return `l${randomBytes(16).toString('hex')}.invalid`
}

type Led = {
  /** The headers of the answer. */
  received: Record<string, string>
  name: string
  /** The proxy's own address, which the answer gets instead of the name. */
  linkBase: string
  /** The called host, and the host that linked to it. */
  authority: string
  from: string | null
  bodies: BodyMemory
}

const PARTIAL = 206

export async function leadBack(
  response: Response,
  { received, name, linkBase, authority, from, bodies }: Led,
): Promise<Response> {
  const [written, own] = [`https://${name}`, linkBase]
  const { host } = new URL(`https://${authority}`)
  const base = { ...proxyLinks(linkBase, from), isOwnOnly: true }
  const marked = { ...received }
  rewriteOwnLinks(marked, host, base)
  const headers = new Headers(
    Object.entries(marked).map(([key, value]) => [key, value.replaceAll(written, own)]),
  )
  const rewriter = rewriterFor(response, host, base)
  const held = holdShort(response, bodies)
  if (held) {
    return wholeOf(response, held, headers, (bytes) => {
      const text = Buffer.from(rewriter ? rewriter.rewriteAtOnce(bytes) : bytes)
      return text.includes(written) ? replaceBytes(text, written, own) : text
    })
  }
  const checked = rewriter ? response.body?.pipeThrough(markLinks(rewriter)) : response.body
  const body = checked?.pipeThrough(createReplacer(written, own)) ?? null
  return new Response(body, { status: response.status, headers })
}

/** Null for a body that has no JSON strings, and for objects of stores, which stay as they are. */
function rewriterFor(response: Response, host: string, base: LinkBase): LinkRewriter | null {
  const isObject = response.status === PARTIAL || rangesAt(host).length > 0
  const isSearched = !isObject && hasStrings(kindOf(response.headers.get('content-type')))
  return isSearched ? new LinkRewriter(host, base) : null
}

function markLinks(rewriter: LinkRewriter): TransformStream<Uint8Array, Uint8Array> {
  const passOn = (bytes: Uint8Array, controller: TransformStreamDefaultController) => {
    if (bytes.length > 0) controller.enqueue(bytes)
  }
  return new TransformStream({
    transform: (chunk, controller) => passOn(rewriter.push(chunk), controller),
    flush: (controller) => passOn(rewriter.flush(), controller),
  })
}

function replaceBytes(bytes: Buffer, written: string, own: string): Buffer<ArrayBuffer> {
  return Buffer.from(bytes.toString('latin1').replaceAll(written, own), 'latin1')
}

/** At most the length of one name is held back. */
function createReplacer(written: string, own: string): TransformStream<Uint8Array, Uint8Array> {
  let held = Buffer.alloc(0)
  return new TransformStream({
    transform: (chunk, controller) => {
      const bytes = Buffer.concat([held, chunk])
      const kept = beginningAtEndOf(bytes, written)
      held = bytes.subarray(bytes.length - kept)
      const done = bytes.subarray(0, bytes.length - kept)
      if (done.length > 0) controller.enqueue(replaceBytes(done, written, own))
    },
    flush: (controller) => {
      if (held.length > 0) controller.enqueue(held)
    },
  })
}
