/** What a person can act on: what went wrong, and the next thing to try. */
export class CliError extends Error {
  readonly exitCode: number
  readonly hint: string | null

  constructor(exitCode: number, message: string, hint: string | null = null) {
    super(message)
    this.name = 'CliError'
    this.exitCode = exitCode
    this.hint = hint
  }
}
