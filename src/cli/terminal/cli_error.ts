/** An error for people: the problem, and the next step. */
import {
  EX_AUTH,
  EX_FAILED,
  EX_NETWORK,
  EX_NO_PROGRAM,
  EX_NOT_EXECUTABLE,
  EX_NOT_FOUND,
  EX_REFUSED,
  EX_USAGE,
} from '../../core/exit_codes.ts'
import { asOne } from '../../core/printable.ts'

/**
 * Every kind of error in the command line: the stable code that scripts read with --json, and its exit code.
 * docs/reference/cli.md lists them. Server errors keep the server's code.
 */
export const cliErrors = {
  failed: EX_FAILED,
  cancelled: EX_FAILED,
  disk_full: EX_FAILED,
  unreadable_value: EX_FAILED,
  unresolved_reference: EX_FAILED,
  connect_failed: EX_FAILED,
  port_taken: EX_FAILED,
  usage: EX_USAGE,
  empty_value: EX_USAGE,
  value_too_large: EX_USAGE,
  unusable_root: EX_USAGE,
  invalid_file: EX_USAGE,
  terminal_required: EX_USAGE,
  not_logged_in: EX_AUTH,
  session_ended: EX_AUTH,
  keyring_unavailable: EX_AUTH,
  wrong_passphrase: EX_AUTH,
  nothing_locked: EX_AUTH,
  wrong_password: EX_AUTH,
  token_required: EX_AUTH,
  invalid_token: EX_AUTH,
  unreadable_workspace: EX_AUTH,
  not_found: EX_NOT_FOUND,
  ambiguous_name: EX_NOT_FOUND,
  empty_environment: EX_NOT_FOUND,
  not_confirmed: EX_REFUSED,
  not_permitted: EX_REFUSED,
  ended_token: EX_REFUSED,
  clocks_differ: EX_REFUSED,
  account_exists: EX_REFUSED,
  name_taken: EX_REFUSED,
  file_exists: EX_REFUSED,
  untrusted_address: EX_REFUSED,
  insecure_address: EX_REFUSED,
  unsafe_socket: EX_REFUSED,
  changed_key: EX_REFUSED,
  replaced_keys: EX_REFUSED,
  changed_name: EX_REFUSED,
  unverified_workspace: EX_REFUSED,
  unverified_request: EX_REFUSED,
  hidden_workspace: EX_REFUSED,
  still_member: EX_REFUSED,
  not_signed: EX_REFUSED,
  unproven_key: EX_REFUSED,
  unproven_policy: EX_REFUSED,
  reference_elsewhere: EX_REFUSED,
  wrong_fallback: EX_REFUSED,
  unsafe_variable: EX_REFUSED,
  unreachable: EX_NETWORK,
  unknown_outcome: EX_NETWORK,
  old_fallback: EX_NETWORK,
  unusable_answer: EX_NETWORK,
  untrusted_certificate: EX_NETWORK,
  program_not_executable: EX_NOT_EXECUTABLE,
  program_not_found: EX_NO_PROGRAM,
} as const satisfies Record<string, number>

export type CliErrorCode = keyof typeof cliErrors

export class CliError extends Error {
  readonly code: CliErrorCode
  readonly exitCode: number
  readonly hint: string | null

  /** Pass a list for several lines. */
  constructor(code: CliErrorCode, message: string | readonly string[], hint: string | null = null) {
    super([message].flat().map(asOne).join('\n'))
    this.name = 'CliError'
    this.code = code
    this.exitCode = cliErrors[code]
    this.hint = hint === null ? null : asOne(hint)
  }
}
