/** What the doctor says of one thing: how it is, what to do about it, and where that is told. No value, no name. */
import type { Config } from '../../core/config/config.ts'
import type { Connection } from '../../database/open.ts'

export type Level = 'ok' | 'warn' | 'fail'

export type Finding = {
  check: string
  level: Level
  /** One sentence. */
  said: string
  /** What to do, where something is. */
  todo: string | null
  docs: string
}

/** What a check returns: well, or what is wrong and what to do. */
export type Found =
  | { level: 'ok'; said: string }
  | { level: 'warn' | 'fail'; said: string; todo: string }

export type DoctorLimits = {
  /** Bytes of the disk below which it is said. */
  freeBytes: number
  walBytes: number
  /** Of the connections that PostgreSQL allows, from 0 to 1. */
  connectionShare: number
  /** Days until the disk is full at the present rate. */
  daysLeft: number
}

export type Patient = {
  connection: Connection
  config: Config
  now: () => number
  limits: DoctorLimits
}

export type DoctorCheck = {
  name: string
  docs: string
  run(patient: Patient): Promise<Found> | Found
}

export const DAY_MS = 24 * 60 * 60 * 1000

export const well = (said: string): Found => ({ level: 'ok', said })

/** `3 tokens`, `1 token`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}

export function size(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024
  return mebibytes < 1024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`
}

/** One row of numbers. */
export async function numbers<Name extends string>(
  { connection }: Patient,
  query: string,
  parameters: string[] = [],
): Promise<Record<Name, number>> {
  const row = await connection.sql.begin('read only', async (tx) => {
    await tx.unsafe(`set local statement_timeout = '20s'`)
    const [first] = await tx.unsafe<Record<Name, number>[]>(query, parameters)
    return first
  })
  return (row ?? {}) as Record<Name, number>
}
