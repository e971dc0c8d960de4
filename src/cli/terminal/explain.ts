/** From any error to what is printed and the exit code. A stack is only shown with --debug. */
import { ApiError } from '../../client/api.ts'
import { InvalidToken } from '../../client/delivery.ts'
import {
  EX_AUTH,
  EX_FAILED,
  EX_NETWORK,
  EX_NOT_FOUND,
  EX_REFUSED,
  EX_USAGE,
} from '../../platform/exit_codes.ts'
import { inWords } from '../../platform/fault.ts'
import { CliError } from './cli_error.ts'

type Explanation = { exitCode: number; lines: string[] }

/** Control characters would drive the terminal: sentences come from servers, and names from other people. */
export function explain(error: unknown): Explanation {
  const { exitCode, lines } = explained(error)
  return { exitCode, lines: lines.map((line) => line.replace(/[^\P{Cc}\t\n]/gu, '?')) }
}

function explained(error: unknown): Explanation {
  if (error instanceof CliError) {
    return { exitCode: error.exitCode, lines: withHint(error.message, error.hint) }
  }
  if (error instanceof ApiError) return explainApi(error)
  if (error instanceof InvalidToken) {
    const hint = 'tokens begin with svc_agt_ or svc_wkl_; copy the whole line'
    return { exitCode: EX_AUTH, lines: withHint(error.message, hint) }
  }
  if (isCancelled(error)) return { exitCode: EX_FAILED, lines: ['cancelled'] }
  if (isNetwork(error)) {
    const hint =
      'is the server running? check --server or SERVICE_SERVER_URL with: cloakroom config'
    return { exitCode: EX_NETWORK, lines: withHint('the server cannot be reached', hint) }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: EX_FAILED, lines: withHint(message, 'run it again with --debug to see where') }
}

const HINTS: Record<string, string> = {
  invalid_token: 'log in again: cloakroom login',
  invalid_credentials: 'check the address and the password',
  forbidden: 'ask an owner or admin of the workspace',
  epoch_conflict: 'the workspace key has changed: run the command again',
  rate_limited: 'wait a moment and run the command again',
}

function explainApi(error: ApiError): Explanation {
  const fields = error.fields.map(({ path, message }) => `  ${path || 'request'}: ${message}`)
  // The sentence of a 422 repeats the first of the fields that follow it.
  const sentence = error.message.replace(inWords('', error.fields.slice(0, 1)), '')
  const lines = withHint(`${sentence} (${error.code})`, HINTS[error.code] ?? null)
  return {
    exitCode: exitCodeOf(error.status),
    lines: [lines[0] ?? '', ...fields, ...lines.slice(1)],
  }
}

function exitCodeOf(status: number): number {
  if (status === 401) return EX_AUTH
  if (status === 404) return EX_NOT_FOUND
  if (status === 422 || status === 400) return EX_USAGE
  return status >= 500 ? EX_NETWORK : EX_REFUSED
}

function withHint(message: string, hint: string | null): string[] {
  return hint === null ? [message] : [message, `→ ${hint}`]
}

function isCancelled(error: unknown): boolean {
  return error instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(error.name)
}

function isNetwork(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(E(CONN|NOTFOUND|TIMEDOUT|PROTO|HOST|NET)|DNS_|ConnectionRefused|FailedToOpenSocket|UNABLE_|CERT_|ERR_TLS)/.test(
    code,
  )
}
