/** A port of this machine, as it was typed. */
import { CliError } from './terminal/cli_error.ts'

/** @throws CliError for an invalid port */
export function portFrom(typed: string): number {
  const number = /^\d{1,5}$/.test(typed) ? Number(typed) : Number.NaN
  if (number <= 65_535) return number
  throw new CliError('usage', '--port is a number from 0 to 65535', '0 picks a free one')
}

/** Returns the listener. @throws CliError if the port is in use */
export async function listenOrExplain<T>(port: number, listen: () => T | Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error
    throw new CliError(
      'port_taken',
      `port ${port} is taken`,
      'choose another one with --port, or 0',
    )
  }
}

/** Until the person, or the system, stops the program. */
export async function waitUntilStopped(): Promise<number> {
  const stopped = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => stopped.resolve())
  }
  await stopped.promise
  return 0
}
