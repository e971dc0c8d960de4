/** Why a backup, a restore or a move failed: one line for people, with an error code of the command line. */
export class BackupProblem extends Error {
  readonly code: 'invalid_file' | 'file_exists' | 'usage' | 'disk_full' | 'failed'

  /** The next thing to try. */
  readonly hint: string | null

  constructor(
    code: BackupProblem['code'],
    message: string,
    cause?: unknown,
    hint: string | null = null,
  ) {
    super(message, { cause })
    this.name = 'BackupProblem'
    this.code = code
    this.hint = hint
  }
}
