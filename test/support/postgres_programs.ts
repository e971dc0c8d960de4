import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of the newest installed PostgreSQL, or `null` if none is installed. */
export function findPostgres(): string | null {
  const debian = '/usr/lib/postgresql'
  const installed = existsSync(debian)
    ? readdirSync(debian).sort((a, b) => Number(b) - Number(a))
    : []
  const places = [
    ...installed.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(':'),
  ]
  return places.find((place) => existsSync(join(place, 'initdb'))) ?? null
}
