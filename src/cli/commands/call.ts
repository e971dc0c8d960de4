/** `cloakroom call`: one request through the resolver, in the manner of curl. */
import { fromUtf8 } from '../../platform/crypto/encoding.ts'
import { EX_FAILED } from '../../platform/exit_codes.ts'
import { newTrace, traceparentOf } from '../../platform/trace/traceparent.ts'
import { unfilledText } from '../../platform/unfilled.ts'
import { outboundMethods } from '../../resolver/contract.ts'
import type { callOptions } from '../catalogue/options.ts'
import type { Action, OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { readNamedFile } from '../files/read.ts'
import type { Host } from '../host.ts'
import { type Answer, callResolver } from '../resolver_call.ts'
import { tokenFor } from '../session/saved_tokens.ts'
import { CliError } from '../terminal/cli_error.ts'

type CallOptions = OptionValues<typeof callOptions>

export const call: Action<typeof callOptions> = async (context, [url = ''], options) => {
  const request = requestOf(context, url, options)
  const token = await tokenFor(context, options)
  const answer = await (options.trace ? traced : callResolver)(context, token, request)
  show(context, answer, options.include ?? false)
  const notes = [
    ...(answer.redacted ? ['a credential in the answer was redacted'] : []),
    ...(answer.unfilled ?? []).map(unfilledText),
    ...(answer.length === 'unproven' ? ['the answer has no length: it may be incomplete'] : []),
    ...(answer.dropped_headers ?? []).map((name) => `the answer's ${name} header was left out`),
  ]
  if (notes.length > 0) {
    // On standard error too, so that what is piped on stays the body and nothing else.
    const isLineOpen = !context.output.isJson && answer.body !== '' && !answer.body.endsWith('\n')
    context.output.warn(...(isLineOpen ? [''] : []), ...notes)
  }
  return options.fail && answer.status_code >= 400 ? EX_FAILED : 0
}

/** @throws CliError */
function requestOf({ host }: Context, url: string, options: CallOptions) {
  const data = dataOf(host, options)
  const method = methodOf(options, data !== undefined)
  const headers = headersOf(options.header)
  if (
    data !== undefined &&
    !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  ) {
    headers['Content-Type'] = 'application/x-www-form-urlencoded'
  }
  return {
    target_url: url,
    method,
    headers,
    strict_placeholders: options.strict,
    ...(data === undefined ? {} : { body: data }),
  }
}

/** The same call in a trace that begins here. Its id is said first: one that fails is looked for, too. */
async function traced(context: Context, token: string, request: ReturnType<typeof requestOf>) {
  const trace = newTrace()
  context.output.note(`trace ${trace.traceId}`)
  const options = { traceparent: traceparentOf(trace) }
  const answer = await callResolver(context, token, { ...request, trace: true }, options)
  return { ...answer, trace_id: trace.traceId }
}

/** @throws CliError for a file that is not text */
function dataOf(host: Host, { data }: CallOptions): string | undefined {
  if (data === undefined || !data.startsWith('@')) return data
  const text = fromUtf8(readNamedFile(host, data.slice(1)))
  if (text === null) throw new CliError('usage', 'the body is not UTF-8 text')
  return text
}

function methodOf({ request }: CallOptions, hasBody: boolean) {
  const wanted = request?.toUpperCase() ?? (hasBody ? 'POST' : 'GET')
  const method = outboundMethods.find((candidate) => candidate === wanted)
  if (method) return method
  throw new CliError('usage', `the method must be one of ${outboundMethods.join(', ')}`)
}

function headersOf(lines: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      if (at < 1) throw new CliError('usage', "a header is given as 'Name: value'")
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

function show(context: Context, answer: Answer, withHeaders: boolean): void {
  if (context.output.isJson) {
    context.output.raw(`${JSON.stringify(answer, null, 2)}\n`)
    return
  }
  if (withHeaders) {
    const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\n`)
    context.output.raw(`${answer.status_code}\n${lines.join('')}\n`)
  }
  if (answer.body_encoding === 'base64') context.output.bytes(Uint8Array.fromBase64(answer.body))
  else context.output.raw(answer.body)
}
