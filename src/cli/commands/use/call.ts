/** `cloakroom call`: one request through the resolver, in the manner of curl. */
import { fromUtf8 } from '../../../core/crypto/encoding.ts'
import { EX_FAILED } from '../../../core/exit_codes.ts'
import { describeUnfilled } from '../../../core/policy/unfilled.ts'
import { printableJson } from '../../../core/printable.ts'
import { createTrace, traceparentOf } from '../../../core/trace/traceparent.ts'
import { outboundMethods } from '../../../resolver/contract.ts'
import { command, type OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { readNamedFile } from '../../files/read.ts'
import { demandPlace, writePrivately } from '../../files/written.ts'
import type { Host } from '../../host.ts'
import { keptToken, token } from '../../options.ts'
import { withWayToAsk } from '../../proposals/proposing.ts'
import { type Answer, callResolver } from '../../resolver_call.ts'
import { tokenFor } from '../../session/saved_tokens.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { formatCount } from '../../terminal/confirmed.ts'
import { durationOf } from '../../terminal/moments.ts'
import type { Output } from '../../terminal/output.ts'

const options = [
  ['-X, --request <method>', 'HTTP method (default: GET, or POST with a body)'],
  ['-H, --header <line...>', 'header, with placeholders such as SVC_SECRET_NAME'],
  ['-d, --data <text>', 'body; @file reads a file, @- standard input'],
  ['-i, --include', 'also print status and headers'],
  ['--trace', 'send a traceparent header to the API and print the trace ID'],
  ['--no-strict', 'send a placeholder unchanged in places that its policy does not list'],
  ['--reason <text>', 'reason for the call, shown to the approver'],
  ['--wait <time>', 'how long to wait for an approval, at most 2m (default: 0s)'],
  ['-f, --fail', 'exit with 1 if the API returns a status of 400 or above'],
  ['-o, --output <path>', 'write the response body to a file that only you can read'],
  ['--force', 'replace an existing file'],
  keptToken,
  token,
] as const

export default command({
  usage: 'call <url>',
  examples: [
    "call --agent deploy-bot https://api.stripe.com/v1/charges -H 'Authorization: Bearer SVC_SECRET_STRIPE_KEY'",
    "call https://api.stripe.com/v1/charges -H 'Authorization: Bearer SVC_SECRET_STRIPE_KEY'",
    "call https://api.example.com/items -X POST -H 'X-Api-Key: SVC_SECRET_KEY' -H 'Content-Type: application/json' -d '{\"name\":\"x\"}'",
  ],
  options,
  action: async (context, [url], options) => {
    const request = requestOf(context, url, options)
    const token = await tokenFor(context, options)
    const { output: file, force = false } = options
    // A call is made once: a file that cannot take its answer is refused before it.
    if (file !== undefined) await demandPlace(context.host, file, { yes: force })
    const waiting = waitingOf(context, options)
    const calling = (options.trace ? callTraced : callResolver)(context, token, request, waiting)
    const answer = await calling.catch((error) => {
      throw withWayToAsk(error, 'An agent can request it: cloakroom proposals create --help')
    })
    const isOpenLine = await show(context, answer, options)
    const notes = [
      ...(answer.redacted ? ['a credential in the response was redacted'] : []),
      ...(answer.unfilled ?? []).map(describeUnfilled),
      ...(answer.length === 'unproven' ? ['the response has no length and may be incomplete'] : []),
      ...(answer.dropped_headers ?? []).map((name) => `the ${name} response header was omitted`),
    ]
    if (notes.length > 0) {
      // On standard error, so that a pipe receives only the body.
      context.output.warn(...(isOpenLine ? [''] : []), ...notes)
    }
    return options.fail && answer.status_code >= 400 ? EX_FAILED : 0
  },
})

type CallOptions = OptionValues<typeof options>

const WAIT = { option: '--wait', example: '90s', least: '0s', most: '2m' }

/** @throws CliError */
function waitingOf({ output }: Context, { wait }: CallOptions) {
  if (wait === undefined) return {}
  return {
    waitMs: durationOf(wait, WAIT),
    onWait: ({ message }: Error) => output.note('Waiting for the approval.', message),
  }
}

const LINE_FEED = 10

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
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...(data === undefined ? {} : { body: data }),
  }
}

/** Makes the call with a new trace. Prints the trace ID first, so that failed calls can be found. */
async function callTraced(
  context: Context,
  token: string,
  request: ReturnType<typeof requestOf>,
  waiting: ReturnType<typeof waitingOf>,
) {
  const trace = createTrace()
  context.output.note(`trace ${trace.traceId}`)
  const options = { ...waiting, traceparent: traceparentOf(trace) }
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
      if (at < 1) throw new CliError('usage', "give a header as 'Name: value'")
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

/** Returns whether the last line on standard output has no end. @throws CliError for a file that cannot be written */
async function show(
  { host, output }: Context,
  answer: Answer,
  { include, output: file }: CallOptions,
): Promise<boolean> {
  if (file === undefined && output.isJson) {
    output.raw(`${printableJson(answer, 2)}\n`)
    return false
  }
  if (include && !output.isJson) output.raw(headOf(answer))
  const bytes = bodyOf(answer)
  if (file === undefined) return showBody(output, answer, bytes)
  await save(host, file, answer, bytes)
  const { body: _, body_encoding: __, ...rest } = answer
  output.done(`${formatCount(bytes.length, 'byte')} written to ${file} (readable only by you).`, {
    ...rest,
    file,
    bytes: bytes.length,
  })
  return false
}

function headOf({ status_code, headers }: Answer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`)
  return `${status_code}\n${lines.join('')}\n`
}

function bodyOf({ body, body_encoding }: Answer): Uint8Array {
  return body_encoding === 'base64' ? Uint8Array.fromBase64(body) : Buffer.from(body)
}

/** A pipe gets any bytes; a terminal gets text. */
function showBody(output: Output, { body, body_encoding }: Answer, bytes: Uint8Array): boolean {
  if (body_encoding !== 'base64') {
    output.raw(body)
    return body !== '' && !body.endsWith('\n')
  }
  if (output.isTerminal && fromUtf8(bytes) === null) {
    output.warn(
      `The response has ${formatCount(bytes.length, 'byte')} that are not UTF-8 text, so it is not printed to the terminal. Use \`--output FILE\` or a pipe.`,
    )
    return false
  }
  output.bytes(bytes)
  return bytes.length > 0 && bytes.at(-1) !== LINE_FEED
}

/** @throws CliError that states that the call was made */
async function save(
  host: Host,
  file: string,
  { status_code }: Answer,
  bytes: Uint8Array,
): Promise<void> {
  try {
    await writePrivately(host, file, bytes, { yes: true })
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new CliError(
      error.code,
      `the API returned ${status_code}, but the response was lost: ${error.message}`,
      'check the effect of the call before you retry',
    )
  }
}
