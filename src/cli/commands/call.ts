/** `cloakroom call`: one request through the resolver, in the manner of curl. */
import { readFileSync } from 'node:fs'
import { ApiError } from '../../client/api.ts'
import { EX_AUTH, EX_FAILED, EX_USAGE } from '../../platform/exit_codes.ts'
import { outboundMethods, resolveCall } from '../../resolver/contract.ts'
import type { Context } from '../context.ts'
import type { Action } from '../program.ts'
import { CliError } from '../terminal/cli_error.ts'

type Answer = {
  status_code: number
  headers: Record<string, string>
  body: string
  body_encoding?: 'base64'
  redacted: boolean
}

export const call: Action = async (context, [url = ''], options) => {
  const data = dataOf(options)
  const method = methodOf(options, data !== undefined)
  const headers = headersOf(options.header)
  if (
    data !== undefined &&
    !Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  ) {
    headers['Content-Type'] = 'application/x-www-form-urlencoded'
  }
  const body = {
    target_url: url,
    method,
    headers,
    ...(data === undefined ? {} : { body: data }),
    ...scopeOf(context),
  }
  const answer = await send(context, tokenOf(context, options), body)
  show(context, answer, options.include === true)
  if (answer.redacted) {
    // On standard error too, so that what is piped on stays the body and nothing else.
    const isLineOpen = !context.output.isJson && answer.body !== '' && !answer.body.endsWith('\n')
    context.output.warn(`${isLineOpen ? '\n' : ''}a credential in the answer was redacted`)
  }
  return options.fail === true && answer.status_code >= 400 ? EX_FAILED : 0
}

function scopeOf({ settings }: Context): { environment?: string } {
  const { environment } = settings
  return environment && environment.origin !== 'default' ? { environment: environment.value } : {}
}

export function tokenOf(context: Context, options: Record<string, unknown>): string {
  const token = typeof options.token === 'string' ? options.token : context.env.SERVICE_TOKEN
  if (token) return token
  throw new CliError(
    EX_AUTH,
    'an agent token is needed',
    'set SERVICE_TOKEN, or make one with: cloakroom agent create <name>',
  )
}

function dataOf({ data, json }: Record<string, unknown>): string | undefined {
  const given = data ?? json
  if (typeof given !== 'string') return undefined
  return given.startsWith('@') ? readFileSync(given === '@-' ? 0 : given.slice(1), 'utf8') : given
}

function methodOf({ request }: Record<string, unknown>, hasBody: boolean) {
  const wanted = typeof request === 'string' ? request.toUpperCase() : hasBody ? 'POST' : 'GET'
  const method = outboundMethods.find((candidate) => candidate === wanted)
  if (method) return method
  throw new CliError(EX_USAGE, `the method must be one of ${outboundMethods.join(', ')}`)
}

function headersOf(given: unknown): Record<string, string> {
  const lines = Array.isArray(given) ? (given as string[]) : []
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(':')
      if (at < 1) throw new CliError(EX_USAGE, "a header is given as 'Name: value'")
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

async function send(context: Context, token: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${context.setting('resolver')}${resolveCall.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new ApiError(response.status, answer as object)
  return answer as Answer
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
  if (answer.body_encoding === 'base64') process.stdout.write(Uint8Array.fromBase64(answer.body))
  else context.output.raw(answer.body)
}
