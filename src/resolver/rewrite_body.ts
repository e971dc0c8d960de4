/**
 * Links in JSON bodies. Some clients follow what an answer names and refuse another host than their
 * base URL has; where they ask for it (`X-Service-Rewrite: body`), links to the host that was called lead
 * back through forward mode.
 */
import { kindOf } from '../outbound/answer/response.ts'

/** `base` is what stands before the host, such as `https://resolver.example.com/v1/forward/`. */
export function rewriteBody(response: Response, host: string, base: string): Response {
  if (!response.body || !kindOf(response.headers.get('content-type')).isJson) return response
  const links = [`"https://${host}/`, `"https:\\/\\/${host}\\/`] as const
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  const rewritten = response.body.pipeThrough(rewriting(links, `"${base}${host}/`))
  return new Response(rewritten, { status: response.status, headers })
}

/** Replaces texts in bytes as they come; at most the length of one is held back. */
function rewriting(
  links: readonly string[],
  replacement: string,
): TransformStream<Uint8Array, Uint8Array> {
  // One character per byte: what else is in the body stays as it is.
  let held = ''
  const rewrite = (text: string) =>
    Buffer.from(
      links.reduce((all, link) => all.replaceAll(link, () => replacement), text),
      'latin1',
    )
  return new TransformStream({
    transform: (chunk, controller) => {
      const text = held + Buffer.from(chunk).toString('latin1')
      const end = text.length - Math.max(...links.map((link) => begun(text, link)))
      held = text.slice(end)
      if (end > 0) controller.enqueue(rewrite(text.slice(0, end)))
    },
    flush: (controller) => {
      if (held !== '') controller.enqueue(Buffer.from(held, 'latin1'))
    },
  })
}

/** How many characters at the end of a text begin `link`, which has its first character only once. */
function begun(text: string, link: string): number {
  const from = text.lastIndexOf(link.charAt(0))
  const rest = from < 0 ? '' : text.slice(from)
  return rest.length < link.length && link.startsWith(rest) ? rest.length : 0
}
