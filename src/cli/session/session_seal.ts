/**
 * Sessions in files, under a key that is derived from the passphrase of this machine. All of them have one
 * salt, so that one key opens them all: it is derived once for a command, or comes from the agent that
 * `cloakroom unlock` starts.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Argon2id } from '../../client/account/argon2.ts'
import { deriveMasterKey, KDF_DEFAULT } from '../../client/account/keys.ts'
import { readOwnFile } from '../files/read.ts'
import { CliError } from '../terminal/cli_error.ts'

export type Seal = {
  /** Prompts for the passphrase. @throws CliError `wrong_passphrase` if other sessions use another one */
  prepare(): Promise<void>
  seal(text: string): Promise<string>
  /** @throws CliError `wrong_passphrase` */
  unseal(text: string): Promise<string>
  /** The key with its salt, for the agent; null without sealed files. @throws CliError */
  key(): Promise<SealingKey | null>
}

export type SealingKey = { salt: Uint8Array; key: Uint8Array }

/** @param opens whether a passphrase is right; the prompt repeats until it is. Null to choose a new passphrase */
export type AskPassphrase = (
  opens: ((passphrase: string) => Promise<boolean>) | null,
) => Promise<string>

export type SealOptions = {
  /** The folder of the sealed files. */
  directory: string
  /** Asked for when nothing else has the key. */
  passphrase: AskPassphrase
  argon2id: Argon2id | undefined
  /** The key that was unlocked for a time. */
  unlocked(): Promise<SealingKey | null>
}

const sealed = z.object({
  sealed: z.literal(1),
  salt: z.string(),
  nonce: z.string(),
  data: z.string(),
})

export function isSealed(text: string): boolean {
  return sealed.safeParse(JSON.parse(text)).success
}

export function openSeal({ directory, passphrase, argon2id, unlocked }: SealOptions): Seal {
  let known: SealingKey | null = null
  /** The key for new files, or for the existing one. */
  const keyFor = async (present: string | null): Promise<SealingKey> => {
    const salt = present === null ? randomBytes(16) : saltOf(present)
    known ??= await unlocked()
    if (known && Buffer.from(known.salt).equals(salt)) return known
    let tried: { text: string; key: Uint8Array } | undefined
    const derive = async (text: string): Promise<Uint8Array> => {
      if (tried?.text === text) return tried.key
      const key = await deriveMasterKey(text, salt, KDF_DEFAULT, argon2id)
      tried = { text, key }
      return key
    }
    const opens = async (text: string) => openSealed(await derive(text), present ?? '') !== null
    const text = await passphrase(present === null ? null : opens)
    known = { salt, key: await derive(text) }
    return known
  }
  /** The seal of the existing files, or a new one. */
  const keyHere = async (): Promise<SealingKey> => {
    const present = findSealedFile(directory)
    if (present === null) return known ?? keyFor(null)
    const key = await keyFor(present)
    unsealWith(key, present)
    return key
  }
  return {
    prepare: async () => void (await keyHere()),
    seal: async (text) => sealWith(await keyHere(), text),
    unseal: async (text) => unsealWith(await keyFor(text), text),
    key: async () => (findSealedFile(directory) === null ? null : keyHere()),
  }
}

/** One of the sealed files. */
function findSealedFile(directory: string): string | null {
  if (!existsSync(directory)) return null
  for (const name of readdirSync(directory).sort()) {
    if (!/^session(-[0-9a-f-]+)?\.json$/.test(name)) continue
    const text = readOwnFile(join(directory, name))
    if (text !== null && isSealed(text)) return text
  }
  return null
}

function saltOf(text: string): Uint8Array {
  return Buffer.from(sealed.parse(JSON.parse(text)).salt, 'base64')
}

function sealWith({ salt, key }: SealingKey, text: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const data = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return JSON.stringify({
    sealed: 1,
    salt: Buffer.from(salt).toString('base64'),
    nonce: nonce.toString('base64'),
    data: data.toString('base64'),
  })
}

function unsealWith({ key }: SealingKey, text: string): string {
  const found = openSealed(key, text)
  if (found !== null) return found
  throw new CliError(
    'wrong_passphrase',
    'the passphrase is wrong',
    'retry, or start over with cloakroom logout, which removes the session, saved tokens and your own values from this machine',
  )
}

/** Null where the key is another one. */
function openSealed(key: Uint8Array, text: string): string | null {
  const { nonce, data } = sealed.parse(JSON.parse(text))
  const bytes = Buffer.from(data, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64'))
  decipher.setAuthTag(bytes.subarray(-16))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString()
  } catch {
    return null
  }
}
