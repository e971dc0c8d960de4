/**
 * The folders whose project files this user trusts, each with the addresses that it may name. It is in
 * the user's own configuration, so that no repository can bring it along. A folder is known by its real
 * path: another folder behind the same link is not trusted.
 */
import { realpathSync } from 'node:fs'
import type { AddressName } from '../settings.ts'
import { changeKnown, readKnown } from './known.ts'

type Env = Record<string, string | undefined>
export type Addresses = { [name in AddressName]?: string | undefined }

export type TrustedFolders = {
  includes(folder: string, name: AddressName, address: string): boolean
  /** In addition to the addresses already trusted for the folder. */
  add(folder: string, addresses: Addresses): void
  /** Forgets a folder with all its addresses; false if it was not trusted. */
  remove(folder: string): boolean
}

export function openTrustedFolders(env: Env): TrustedFolders {
  return {
    includes: (folder, name, address) =>
      readKnown(env, 'folders')[realpathSync(folder)]?.[name].includes(address) ?? false,
    add: (folder, { server, resolver }) => {
      const place = realpathSync(folder)
      changeKnown(env, 'folders', ({ [place]: before, ...others }) => ({
        ...others,
        [place]: {
          server: withAddress(before?.server, server),
          resolver: withAddress(before?.resolver, resolver),
        },
      }))
    },
    remove: (folder) => {
      const place = realpathSync(folder)
      let wasThere = false
      changeKnown(env, 'folders', ({ [place]: before, ...others }) => {
        wasThere = before !== undefined
        return before && others
      })
      return wasThere
    },
  }
}

function withAddress(known: readonly string[] = [], address: string | undefined): string[] {
  return address === undefined ? [...known] : [...new Set([...known, address])]
}
