/**
 * The folders whose project files this user trusts, each with the addresses that it may name. It stands in
 * the user's own configuration, so that no repository can bring it along. A folder is known by its real
 * path: another folder behind the same link is not trusted.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readOwnJson } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
import { type AddressName, configDirectory } from '../settings.ts'

type Env = Record<string, string | undefined>
export type Addresses = { [name in AddressName]?: string | undefined }

const addresses = z.array(z.string())
const file = z.record(z.string(), z.strictObject({ server: addresses, resolver: addresses }))

export type TrustedFolders = {
  includes(folder: string, name: AddressName, address: string): boolean
  /** Beside what the folder was trusted with before. */
  add(folder: string, addresses: Addresses): void
  /** Forgets a folder with all its addresses; false where there was nothing to forget. */
  remove(folder: string): boolean
}

/** Reads the file at each call, and never keeps it: another terminal may have changed it. */
export function openTrustedFolders(env: Env): TrustedFolders {
  const path = join(configDirectory(env), 'trusted.json')
  const read = () => new Map(Object.entries(readFile(path)))
  const write = (folders: ReturnType<typeof read>) =>
    replaceFile(path, `${JSON.stringify(Object.fromEntries(folders), null, 2)}\n`)
  return {
    includes: (folder, name, address) =>
      read().get(realpathSync(folder))?.[name].includes(address) ?? false,
    add: (folder, { server, resolver }) => {
      const folders = read()
      const place = realpathSync(folder)
      const before = folders.get(place) ?? { server: [], resolver: [] }
      folders.set(place, {
        server: withAddress(before.server, server),
        resolver: withAddress(before.resolver, resolver),
      })
      write(folders)
    },
    remove: (folder) => {
      const folders = read()
      const wasThere = folders.delete(realpathSync(folder))
      if (wasThere) write(folders)
      return wasThere
    },
  }
}

function withAddress(known: readonly string[], address: string | undefined): string[] {
  return address === undefined ? [...known] : [...new Set([...known, address])]
}

function readFile(path: string): z.output<typeof file> {
  return readOwnJson(path, file, {
    says: 'which folders are trusted',
    help: 'trust the folders again with: cloakroom trust',
  })
}
