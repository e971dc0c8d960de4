/**
 * A person's own values, which override the shared ones on this machine: for one account, by IDs of workspace, project
 * and environment. They are sealed with a key derived from the account's private key in the session, and end with the
 * session.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isObviousSetting } from '../../client/delivery/obvious_setting.ts'
import { type Binding, generateSalt, openText, sealText } from '../../client/sealed_text.ts'
import { lp } from '../../core/crypto/encoding.ts'
import type { Entry } from '../../core/policy/references.ts'
import { readOwnFile } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
import { configDirectory } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'

type Env = Record<string, string | undefined>
type Place = { workspace: { id: string }; project: { id: string }; environment: string }
type Own = { value: string; references: boolean }

export type OwnValues = {
  /** Names of all places. @throws CliError for a file that was altered */
  names(): string[]
  /** By name, as if they were stored. @throws CliError for a file that was altered */
  of(place: Place): Map<string, Entry>
  set(place: Place, values: ReadonlyMap<string, Own>): void
  remove(place: Place, names: readonly string[]): void
  /** To the file of the same account under its new key, which takes the place of this. */
  rekey(next: Holder): void
}

/** The owner of the values, with the key that seals them. */
export type Holder = { server: string; publicKey: string; privateKey: Uint8Array }

const LABEL = 'cloakroom/v1/own-values'
const file = z.strictObject({ own_values: z.literal(1), salt: z.string(), sealed: z.string() })
const content = z.record(
  z.string(),
  z.record(z.string(), z.object({ value: z.string(), references: z.boolean() })),
)
type Content = z.output<typeof content>

export function openOwnValues(env: Env, slot: string, holder: Holder): OwnValues {
  const path = pathOf(env, slot)
  const change = (place: Place, act: (values: Map<string, Own>) => void) => {
    const all = read(path, holder)
    const values = new Map(Object.entries(all[idOf(place)] ?? {}))
    act(values)
    write(path, holder, { ...all, [idOf(place)]: Object.fromEntries(values) })
  }
  return {
    names: () => {
      const names = Object.values(read(path, holder)).flatMap((values) => Object.keys(values))
      return [...new Set(names)].sort()
    },
    of: (place) => {
      const own = Object.entries(read(path, holder)[idOf(place)] ?? {})
      return new Map(own.map(([name, value]) => [name, entryOf(name, value)]))
    },
    set: (place, added) =>
      change(place, (values) => {
        for (const [name, own] of added) values.set(name, own)
      }),
    rekey: (next) => write(path, next, readEither(path, holder, next)),
    remove: (place, names) =>
      change(place, (values) => {
        for (const name of names) values.delete(name)
      }),
  }
}

/** With the session. */
export function forgetOwnValues(env: Env, slot: string): void {
  rmSync(pathOf(env, slot), { force: true })
}

function pathOf(env: Env, slot: string): string {
  return join(configDirectory(env), `own-values-${slot}.json`)
}

function idOf({ workspace, project, environment }: Place): string {
  return `${workspace.id}/${project.id}/${environment}`
}

/** Independent of the stored value, this one is a secret unless it is obviously a setting. */
function entryOf(name: string, { value, references }: Own): Entry {
  const policy = {
    ...(references ? { references } : {}),
    ...(isObviousSetting(name, value) ? { sensitive: false } : {}),
  }
  return { value, policy }
}

function read(path: string, holder: Holder): Content {
  const text = readOwnFile(path)
  if (text === null) return {}
  try {
    const { salt, sealed } = file.parse(JSON.parse(text))
    return content.parse(
      JSON.parse(openText(holder.privateKey, bindingOf(holder, salt), sealed) ?? ''),
    )
  } catch {
    throw new CliError(
      'unreadable_value',
      `${path} cannot be decrypted: it was altered or belongs to another account`,
      'it contains your own values: remove it to continue without them',
    )
  }
}

/** An interrupted rotation may already have sealed them to the next key. @throws CliError */
function readEither(path: string, holder: Holder, next: Holder): Content {
  try {
    return read(path, next)
  } catch {
    return read(path, holder)
  }
}

function write(path: string, holder: Holder, all: Content): void {
  const left = Object.entries(all).filter(([, values]) => Object.keys(values).length > 0)
  if (left.length === 0) {
    rmSync(path, { force: true })
    return
  }
  const salt = generateSalt()
  const text = JSON.stringify(Object.fromEntries(left))
  const sealed = sealText(holder.privateKey, bindingOf(holder, salt), text)
  replaceFile(path, `${JSON.stringify({ own_values: 1, salt, sealed })}\n`)
}

function bindingOf({ server, publicKey }: Holder, salt: string): Binding {
  return { label: LABEL, salt, bound: lp(LABEL, server, publicKey, salt) }
}
