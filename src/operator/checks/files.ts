/** Checks that only this user can access the files with keys and data. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readAuthorities } from '../../core/config/authorities.ts'
import type { Config } from '../../core/config/config.ts'
import { KEYS_FILE } from '../../database/embedded/data_directory.ts'
import { Failed } from './check.ts'

type Places = Pick<Config, 'DB_HOST' | 'DATA_DIR' | 'SIGNED_STATE_FILE' | 'RESOLVER_CA_FILE'>
/** Bits that may not be set for group and others. */
type Kept = { path: string | undefined; forbidden: number; mend: string }

const PRIVATE = 0o077
const WRITABLE = 0o022

/** Checks the modes of existing files. A start creates missing ones with the right mode. @throws Failed, ConfigError */
export function checkFiles(places: Places, platform = process.platform): string {
  readAuthorities(places.RESOLVER_CA_FILE)
  if (platform === 'win32') return 'file modes are not checked on Windows'
  const { DB_HOST, DATA_DIR } = places
  const embedded = [privately(DATA_DIR, '0700'), privately(join(DATA_DIR, KEYS_FILE), '0600')]
  const kept: Kept[] = [
    ...(DB_HOST === undefined ? embedded : []),
    privately(places.SIGNED_STATE_FILE, '0600'),
    { path: places.RESOLVER_CA_FILE, forbidden: WRITABLE, mend: 'chmod go-w' },
  ]
  const problems = kept.map(problemOf).filter((problem) => problem !== null)
  if (problems.length > 0) throw new Failed(problems.join('\n'))
  return 'only the owner can read keys and data'
}

function privately(path: string | undefined, mode: string): Kept {
  return { path, forbidden: PRIVATE, mend: `chmod ${mode}` }
}

function problemOf({ path, forbidden, mend }: Kept): string | null {
  const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  if (path === undefined || !found) return null
  if (found.uid !== process.getuid?.())
    return `${path} belongs to user ${found.uid}: run this command and the server as that user`
  if ((found.mode & forbidden) === 0) return null
  const verb = forbidden === PRIVATE ? 'read or written' : 'written'
  return `${path} can be ${verb} by other users: ${mend} ${path}`
}
