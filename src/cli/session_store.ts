/**
 * Where the session and the private key are kept: in the keyring of the operating system where there is
 * one, else in a file of mode 0600, encrypted under a passphrase, or as it is when the user insists.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { deriveMasterKey, KDF_DEFAULT } from '../client/keys.ts'
import { replaceFile } from './private_file.ts'
import { configDirectory } from './settings.ts'
import { CliError } from './terminal/cli_error.ts'
import { openKeyring } from './terminal/keyring.ts'

const stored = z.object({
  server: z.string(),
  email: z.string(),
  access: z.string(),
  refresh: z.string(),
  /** b64 of 32 bytes. */
  privateKey: z.string(),
  publicKey: z.string(),
  /** Public keys of other people, remembered when first seen: e-mail → b64. */
  knownKeys: z.record(z.string(), z.string()).default({}),
})
export type StoredSession = z.output<typeof stored>

export type SessionStore = {
  /** Where it keeps things, for `cloakroom status`. */
  location: string
  /** Asks what writing will need, so that nothing is done that cannot be kept. */
  prepare(): Promise<void>
  read(): Promise<StoredSession | null>
  write(session: StoredSession): Promise<void>
  clear(): Promise<void>
}

export type StoreOptions = {
  env: Record<string, string | undefined>
  /** Keep the session unencrypted in the file. */
  insecure: boolean
  /** Asked for when the file is encrypted or about to be; `isNew` when it is to be chosen. */
  passphrase(isNew: boolean): Promise<string>
}

export async function openSessionStore(options: StoreOptions): Promise<SessionStore> {
  const keyring = options.insecure ? null : await openKeyring(options.env)
  if (!keyring) return fileStore(options)
  return {
    location: keyring.name,
    prepare: async () => {},
    read: async () => parse(await keyring.read()),
    write: (session) => keyring.write(JSON.stringify(session)),
    clear: () => keyring.clear(),
  }
}

function parse(text: string | null): StoredSession | null {
  if (text === null) return null
  const parsed = stored.safeParse(JSON.parse(text))
  return parsed.success ? parsed.data : null
}

function fileStore({ env, insecure, passphrase }: StoreOptions): SessionStore {
  const path = join(configDirectory(env), 'session.json')
  let remembered: string | undefined
  const keepsPlain = () => insecure || (existsSync(path) && !isSealed(readFileSync(path, 'utf8')))
  const ask = async (isNew: boolean) => {
    remembered ??= env.SERVICE_PASSPHRASE ?? (await passphrase(isNew))
    return remembered
  }
  return {
    location: path,
    prepare: async () => {
      if (!keepsPlain()) await ask(!existsSync(path))
    },
    read: async () => {
      if (!existsSync(path)) return null
      const text = readFileSync(path, 'utf8')
      return parse(isSealed(text) ? await unseal(text, await ask(false)) : text)
    },
    write: async (session) => {
      const text = JSON.stringify(session)
      replaceFile(path, keepsPlain() ? text : await seal(text, await ask(!existsSync(path))))
    },
    clear: async () => rmSync(path, { force: true }),
  }
}

const sealed = z.object({
  sealed: z.literal(1),
  salt: z.string(),
  nonce: z.string(),
  data: z.string(),
})

function isSealed(text: string): boolean {
  return sealed.safeParse(JSON.parse(text)).success
}

async function seal(text: string, passphrase: string): Promise<string> {
  const [salt, nonce] = [randomBytes(16), randomBytes(12)]
  const key = await deriveMasterKey(passphrase, salt, KDF_DEFAULT)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const data = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return JSON.stringify({
    sealed: 1,
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    data: data.toString('base64'),
  })
}

async function unseal(text: string, passphrase: string): Promise<string> {
  const { salt, nonce, data } = sealed.parse(JSON.parse(text))
  const key = await deriveMasterKey(passphrase, Buffer.from(salt, 'base64'), KDF_DEFAULT)
  const bytes = Buffer.from(data, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'))
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString()
  } catch {
    throw new CliError(
      'wrong_passphrase',
      'the passphrase is wrong',
      'try again, or start over with: cloakroom logout',
    )
  }
}
