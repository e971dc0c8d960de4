/** What a person can act on: what went wrong, and the next thing to try. */
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
 * Every kind of error of the command line: the stable code that scripts read with --json, its exit code and
 * its meaning; docs/reference/cli.md lists them. A refusal of the server has the server's code.
 */
export const cliErrors = {
  failed: [EX_FAILED, 'something that has no code of its own'],
  cancelled: [EX_FAILED, 'a question was ended with Ctrl-C'],
  disk_full: [EX_FAILED, 'there is no room for a file'],
  unreadable_value: [EX_FAILED, 'a value does not open, or cannot be written in this format'],
  unresolved_reference: [EX_FAILED, 'a value refers to what is not there, or to itself'],
  connect_failed: [EX_FAILED, 'the connection to a provider was not made; nothing was stored'],
  port_taken: [EX_FAILED, 'another program listens on the port'],
  usage: [EX_USAGE, 'an argument, an option or a variable is missing or not acceptable'],
  empty_value: [EX_USAGE, 'a value is empty, and nobody confirmed that'],
  value_too_large: [EX_USAGE, 'a value is longer than can be stored'],
  unusable_root: [EX_USAGE, 'a value does not have the fields that its kind needs'],
  invalid_file: [EX_USAGE, 'a file cannot be read, or is not what it should be'],
  terminal_required: [EX_USAGE, 'a question, and no terminal to ask on'],
  not_logged_in: [EX_AUTH, 'there is no session for this server'],
  session_ended: [EX_AUTH, 'the session is damaged or was ended'],
  keyring_unavailable: [EX_AUTH, 'the keyring of this machine is locked, or does not answer'],
  wrong_passphrase: [EX_AUTH, 'the passphrase of this machine is wrong'],
  nothing_locked: [EX_AUTH, 'there is no session that a passphrase opens'],
  wrong_password: [EX_AUTH, 'the password of the account is wrong'],
  token_required: [EX_AUTH, 'the command works with a token only'],
  invalid_token: [EX_AUTH, 'the token is not one, or not of the right kind'],
  unreadable_workspace: [EX_AUTH, 'the key of the workspace does not open'],
  not_found: [EX_NOT_FOUND, 'there is nothing of that name'],
  ambiguous_name: [EX_NOT_FOUND, 'several have that name'],
  empty_environment: [EX_NOT_FOUND, 'the environment has no secrets, and others have some'],
  not_confirmed: [EX_REFUSED, 'the question was not answered with yes'],
  not_permitted: [EX_REFUSED, 'the role does not permit it'],
  ended_token: [EX_REFUSED, 'the token ended, or has no signed grant'],
  clocks_differ: [
    EX_REFUSED,
    'the clocks of this machine and of the server differ by more than an hour',
  ],
  account_exists: [EX_REFUSED, 'the address has an account on this server'],
  name_taken: [EX_REFUSED, 'another one that works has the name'],
  file_exists: [EX_REFUSED, 'a file with other content would be lost'],
  untrusted_address: [EX_REFUSED, 'a project file names an address that was not trusted'],
  insecure_address: [EX_REFUSED, 'an address would be talked to without encryption'],
  unsafe_socket: [EX_REFUSED, 'what keeps the unlocked key may belong to somebody else'],
  changed_key: [EX_REFUSED, 'a public key is not the one that was seen before'],
  replaced_keys: [EX_REFUSED, 'a person has other keys than those they were invited with'],
  changed_name: [EX_REFUSED, 'a name stands for another thing than when it was seen before'],
  unverified_workspace: [
    EX_REFUSED,
    'what the server shows of a workspace is not what its members signed',
  ],
  unverified_request: [
    EX_REFUSED,
    'a request for approval is not what an agent asked for, or the secrets changed since',
  ],
  hidden_workspace: [EX_REFUSED, 'the server does not show a workspace that you were a member of'],
  still_member: [EX_REFUSED, 'the account is a member of signed workspaces'],
  not_signed: [EX_REFUSED, 'the workspace is not signed, so there is nothing to check'],
  unproven_key: [
    EX_REFUSED,
    'the keys that the server shows of a person are not proven to be theirs',
  ],
  unproven_policy: [EX_REFUSED, 'a stored value does not open with the policy beside it'],
  reference_elsewhere: [EX_REFUSED, 'a template names an environment that the command did not'],
  wrong_fallback: [
    EX_REFUSED,
    'a fallback file was altered, or is of another token, account or place',
  ],
  unsafe_variable: [EX_REFUSED, 'a secret cannot, or must not, be a variable of a program'],
  unreachable: [EX_NETWORK, 'the server cannot be reached'],
  unknown_outcome: [EX_NETWORK, 'an answer was lost, and what was asked for may be done'],
  old_fallback: [EX_NETWORK, 'the server is away, and the fallback file is too old'],
  unusable_answer: [
    EX_NETWORK,
    'the answer is not that of a Cloakroom server, too large or too late',
  ],
  untrusted_certificate: [EX_NETWORK, "the server's certificate is not trusted"],
  program_not_executable: [
    EX_NOT_EXECUTABLE,
    'the program of run, proxy or echo cannot be executed',
  ],
  program_not_found: [EX_NO_PROGRAM, 'the program of run, proxy or echo is not there'],
} as const satisfies Record<string, readonly [exitCode: number, meaning: string]>

export type CliErrorCode = keyof typeof cliErrors

export class CliError extends Error {
  readonly code: CliErrorCode
  readonly exitCode: number
  readonly hint: string | null

  /** Several lines are given as such. */
  constructor(code: CliErrorCode, message: string | readonly string[], hint: string | null = null) {
    super([message].flat().map(asOne).join('\n'))
    this.name = 'CliError'
    this.code = code
    this.exitCode = cliErrors[code][0]
    this.hint = hint === null ? null : asOne(hint)
  }
}
