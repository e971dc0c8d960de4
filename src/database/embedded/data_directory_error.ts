/** Reasons why DATA_DIR cannot be used, for the operator. */

export type DataDirectoryProblem =
  | 'in_use'
  | 'not_writable'
  | 'other_version'
  | 'damaged'
  | 'foreign'

/** DATA_DIR cannot be used; the message is one line for the operator and names the directory. */
export class DataDirectoryError extends Error {
  readonly problem: DataDirectoryProblem

  constructor(problem: DataDirectoryProblem, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DataDirectoryError'
    this.problem = problem
  }
}

/** @param why a system error code, or PostgreSQL's message. */
export function buildNotWritableError(
  root: string,
  why: string,
  cause: unknown,
): DataDirectoryError {
  const reason = explainUnwritable(why)
  const said = reason === null ? why : `${reason} (${why})`
  const message = `The data directory ${root} cannot be written: ${said}.`
  return new DataDirectoryError('not_writable', message, cause)
}

/** Returns why a file or folder cannot be created, and the remedy. */
export function explainUnwritable(code: string): string | null {
  const reasons: Record<string, string> = {
    EACCES: `user ${process.getuid?.()} cannot write there; start it as the owner, or chown the folder`,
    EPERM: 'the system denied it',
    EROFS: 'the file system is read-only; with systemd, set StateDirectory=',
    EEXIST: 'it is a file; pass a folder',
    ENOTDIR: 'part of the path is a file; pass a folder',
    ENOSPC: 'the disk is full',
    SQLITE_FULL: 'the disk is full',
    EDQUOT: 'the disk quota of this user is exhausted',
  }
  return reasons[code] ?? null
}

/** @param why the problem, without a full stop. */
export function buildDamagedError(root: string, why: string, cause?: unknown): DataDirectoryError {
  const message = `The data directory ${root} looks damaged: ${why}. Restore it from a backup.`
  return new DataDirectoryError('damaged', message, cause)
}
