/**
 * The embedded mode needs no configuration: it creates its own keys once and keeps them beside the data, readable by
 * their owner only. Lost keys are never replaced silently, because new ones could not decrypt the data.
 */
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { ConfigError, type OwnKeys } from '../core/config/config.ts'
import { CLUSTER, KEYS_FILE } from '../database/embedded/data_directory.ts'

/** Fresh values for SECRET_KEY, ENCRYPTION_KEY and CRON_SECRET. */
export function generateKeys(): OwnKeys & { CRON_SECRET: string } {
  return {
    SECRET_KEY: randomBytes(48).toString('base64url'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
    CRON_SECRET: randomBytes(32).toString('base64url'),
  }
}

/**
 * The keys of a data directory, made (mode 0600) if the file does not exist; `notice` receives a line then.
 *
 * @throws ConfigError when the keys of existing data are missing or unreadable
 */
export function readOwnKeys(dataDir: string, notice: (text: string) => void): OwnKeys {
  const file = join(dataDir, KEYS_FILE)
  if (!existsSync(file)) {
    if (existsSync(join(dataDir, CLUSTER))) throw buildMissingError(file)
    writeOnce(dataDir, file)
    notice(`created SECRET_KEY and ENCRYPTION_KEY in ${file}: back it up separately from the data`)
  }
  const { SECRET_KEY, ENCRYPTION_KEY } = parse(read(file))
  if (!SECRET_KEY || !ENCRYPTION_KEY) throw buildMissingError(file)
  return { SECRET_KEY, ENCRYPTION_KEY }
}

/** Fails if the file exists: of two processes that start together, one creates the keys. */
function writeOnce(dataDir: string, file: string): void {
  const { SECRET_KEY, ENCRYPTION_KEY } = generateKeys()
  const draft = `${file}.${process.pid}`
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(draft, `SECRET_KEY=${SECRET_KEY}\nENCRYPTION_KEY=${ENCRYPTION_KEY}\n`, {
    mode: 0o600,
    flush: true,
  })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { uid } = statSync(file)
    throw new ConfigError([
      `DATA_DIR: ${file} cannot be read (${(error as NodeJS.ErrnoException).code}): it belongs to user ${uid}, but this is user ${process.getuid?.()} (run the command as that user, or chown the files in DATA_DIR)`,
    ])
  }
}

function parse(text: string): Record<string, string> {
  return Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s, 2)))
}

function buildMissingError(file: string): ConfigError {
  return new ConfigError([
    `ENCRYPTION_KEY: ${file} is missing or damaged, but stored data needs it (restore the file, or set SECRET_KEY and ENCRYPTION_KEY)`,
  ])
}
