/** The options of `approvals allow` that release more than one call. */
import { findLongestWindow, type ReleaseWindow } from '../../client/approvals/release.ts'
import type { VerifiedRequest } from '../../client/approvals/verify.ts'
import { policyPathMatches } from '../../core/policy/path.ts'
import { callMethods } from '../../core/policy/policy.ts'
import { isReleasePath } from '../../sigchain/index.ts'
import { CliError } from '../terminal/cli_error.ts'
import { durationOf } from '../terminal/moments.ts'

type WindowOptions = {
  for: string | undefined
  path: string | undefined
  method: string[] | undefined
}

const FOR = { option: '--for', example: '15m', least: '1s', most: '24h' }

/** Null for this one call. @throws CliError `usage` for a window that the policies or the call exclude */
export function windowFor(request: VerifiedRequest, options: WindowOptions): ReleaseWindow | null {
  const { call } = request
  if (options.for === undefined) {
    if (options.path ?? options.method)
      throw new CliError('usage', '--path and --method need --for', 'add --for 15m')
    if (call.body_sha256 !== null) return null
    const message = 'The call opens a WebSocket or gRPC stream, which needs an approval for a time.'
    throw new CliError('usage', message, 'add --for 15m')
  }
  const seconds = secondsOf(request, options.for)
  const url = new URL(call.target_url)
  const path_prefix = options.path ?? url.pathname
  if (!isReleasePath(path_prefix))
    throw new CliError('usage', '--path is not a path prefix', 'example: --path /v1/charges')
  const methods = methodsOf(options.method ?? [call.method])
  const includesCall =
    methods.some((method) => method === call.method) && policyPathMatches(path_prefix, url.pathname)
  if (includesCall) return { host: url.host, methods, path_prefix, seconds }
  throw new CliError(
    'usage',
    `The approval would not include this call: ${call.method} ${url.pathname}`,
    'widen --path or --method, or omit them',
  )
}

function secondsOf({ held }: VerifiedRequest, text: string): number {
  const most = findLongestWindow(held)
  const [strictest] = [...held].sort((one, other) => one.ttlSeconds - other.ttlSeconds)
  const name = strictest?.key ?? ''
  if (most === 0)
    throw new CliError(
      'usage',
      `${name} does not allow approvals for a time: approve each call.`,
      'omit --for',
    )
  const seconds = durationOf(text, FOR) / 1000
  if (seconds <= most) return seconds
  throw new CliError('usage', `--for is too long: the policy of ${name} allows ${most} seconds.`)
}

function methodsOf(given: readonly string[]): ReleaseWindow['methods'] {
  const names = given.flatMap((text) => text.toUpperCase().split(','))
  const methods = callMethods.filter((method) => names.includes(method))
  if (methods.length === new Set(names).size) return methods
  throw new CliError('usage', `--method takes ${callMethods.join(', ')}`)
}

/** The calls that a window allows, for the person who decides. */
export function windowWarning({ host, methods, path_prefix, seconds }: ReleaseWindow): string[] {
  const calls = `${methods.join(', ')} https://${host}${path_prefix}`
  return [
    `This allows ${calls} for ${seconds} seconds.`,
    'It covers any query, headers and body, not only this call.',
  ]
}

export function windowQuestion({ host, methods, path_prefix, seconds }: ReleaseWindow): string {
  return `Allow ${methods.join(', ')} ${host}${path_prefix} for ${seconds} seconds?`
}
