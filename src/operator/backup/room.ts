/** Checks the free space for a backup, and reports a full disk. */
import type { Sql } from 'postgres'
import { freeBytesOf } from '../checks/limits.ts'
import { BackupProblem } from './problem.ts'

/** Minimum ratio of a backup's size to the tables' size: compressed ciphertext takes more. */
const LEAST_SHARE = 0.25

/** @throws BackupProblem if even the least size does not fit */
export async function requireBackupRoom(sql: Sql, folder: string): Promise<void> {
  const [row] = await sql<{ bytes: number }[]>`
    select sum(pg_table_size(oid))::float8 as bytes from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`
  const least = (row?.bytes ?? 0) * LEAST_SHARE
  const free = freeBytesOf(folder)
  if (free >= least) return
  throw buildNoRoomProblem(
    `in ${folder}: it needs at least ${megabytes(least)} MB, but has ${megabytes(free)} MB`,
  )
}

/** Turns an error about a full disk, quota or limit into a BackupProblem; returns other errors unchanged. */
export function asDiskFull(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!['ENOSPC', 'EDQUOT', 'EFBIG'].includes(code)) return error
  return buildNoRoomProblem(`for ${path} (${code}): the incomplete file was removed`, error)
}

function buildNoRoomProblem(where: string, cause?: unknown): BackupProblem {
  return new BackupProblem('disk_full', `there is not enough space ${where}`, cause)
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1024 / 1024)
}
