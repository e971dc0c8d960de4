/**
 * Data that this machine has seen, so that no server can roll it back: one store, each section a file of the user's own
 * configuration with its form. It outlasts a logout, and holds commitments and names, no keys. A file is read at each
 * call, because another command may have changed it.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { createKnownNames, type KnownNames, nameLists } from '../../client/known_names.ts'
import type { KnownChains } from '../../client/signed/chain.ts'
import { createKnownChains, knownEntry } from '../../client/signed/known_chains.ts'
import { createKnownWorkspaceKeys, type KnownWorkspaceKeys } from '../../client/workspace_key.ts'
import { lockFile } from '../files/lock.ts'
import { readOwnFile } from '../files/read.ts'
import { replaceFile } from '../files/replace.ts'
import { configDirectory } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'

type Env = Record<string, string | undefined>

const workspaceKey = z.strictObject({
  epoch: z.int(),
  commitment: z.string(),
  /** Data of older versions, now in the section `names`. */
  name: z.string().optional(),
})
const manifest = z.strictObject({
  revision: z.int(),
  root: z.string(),
  headSeq: z.int().optional(),
})
const delivery = z.strictObject({
  seq: z.int(),
  head: z.string(),
  /** Project and environment → the newest manifest. */
  manifests: z.record(z.string(), manifest),
})
export type KnownDelivery = z.output<typeof delivery>
const addresses = z.array(z.string())

const sections = {
  /** Server → list → names. */
  names: {
    file: 'known_names.json',
    form: z.record(z.string(), nameLists),
    says: 'the IDs of names',
    help: 'check the names and IDs: cloakroom workspace list --json',
  },
  /** Server → signed workspace → last verified state. */
  chains: {
    file: 'chains.json',
    form: z.record(z.string(), z.record(z.string(), knownEntry)),
    says: 'the states of signed workspaces',
    help: 'compare workspaces again with: cloakroom workspace fingerprint',
  },
  /** Account → workspace → key. */
  workspaceKeys: {
    file: 'workspace_keys.json',
    form: z.record(z.string(), z.record(z.string(), workspaceKey)),
    says: 'the keys of workspaces',
    help: 'compare keys again with: cloakroom workspace accept-key <workspace>',
  },
  /** Token → its last delivery, ordered by last use. */
  deliveries: {
    file: 'deliveries.json',
    form: z.record(z.string(), delivery),
    says: 'the states of deliveries',
    help: 'continue with the current data of the server',
  },
  /** Folder → the addresses that its project file may name. */
  folders: {
    file: 'trusted.json',
    form: z.record(z.string(), z.strictObject({ server: addresses, resolver: addresses })),
    says: 'the trusted folders',
    help: 'trust the folders again with: cloakroom trust',
  },
} as const

type Section = keyof typeof sections
type Content<S extends Section> = z.output<(typeof sections)[S]['form']>

/** Missing sections are empty. @throws CliError for an invalid file */
export function readKnown<S extends Section>(env: Env, section: S): Content<S> {
  const { form, says, help } = sections[section]
  const path = pathOf(env, section)
  const text = readOwnFile(path) ?? '{}'
  try {
    // The section's own form.
    return form.parse(JSON.parse(text)) as Content<S>
  } catch {
    throw new CliError('invalid_file', `${path} does not contain ${says}`, `remove it, and ${help}`)
  }
}

/** Milliseconds that a change by another command is waited for. */
const PATIENCE_MS = 30_000

/**
 * `change` returns the new content, or `undefined` to keep it. No other command changes the section meanwhile. @throws
 * CliError
 */
export function changeKnown<S extends Section>(
  env: Env,
  section: S,
  change: (before: Content<S>) => Content<S> | undefined,
): void {
  if (change(readKnown(env, section)) === undefined) return
  const path = pathOf(env, section)
  const lock = lockFile(`${path}.lock`, PATIENCE_MS)
  try {
    const next = change(readKnown(env, section))
    if (next !== undefined) replaceFile(path, `${JSON.stringify(next, null, 2)}\n`)
  } finally {
    lock.release()
  }
}

function pathOf(env: Env, section: Section): string {
  return join(configDirectory(env), sections[section].file)
}

export function openKnownNames(env: Env, server: string): KnownNames {
  return createKnownNames({
    read: () => readKnown(env, 'names')[server] ?? {},
    change: (act) =>
      changeKnown(env, 'names', (all) => {
        const next = act(all[server] ?? {})
        return next && { ...all, [server]: next }
      }),
  })
}

export function openKnownChains(env: Env, server: string): KnownChains {
  return createKnownChains(
    entriesOf(
      server,
      () => readKnown(env, 'chains'),
      (act) => changeKnown(env, 'chains', act),
    ),
  )
}

export function openKnownWorkspaceKeys(
  env: Env,
  { server, email }: { server: string; email: string },
  warn: (text: string) => void,
): KnownWorkspaceKeys {
  const entries = entriesOf(
    `${server} ${email.toLowerCase()}`,
    () => readKnown(env, 'workspaceKeys'),
    (act) => changeKnown(env, 'workspaceKeys', act),
  )
  return createKnownWorkspaceKeys(entries, ({ name, epoch }) =>
    warn(`${name} has a new key, epoch ${epoch}: a member rekeyed it`),
  )
}

/** Owner → workspace → entry. */
type Owned<Entry> = Record<string, Record<string, Entry>>

/** The data of each workspace for a server or account. */
function entriesOf<Entry>(
  owner: string,
  read: () => Owned<Entry>,
  change: (act: (all: Owned<Entry>) => Owned<Entry> | undefined) => void,
) {
  return {
    of: (workspaceId: string) => read()[owner]?.[workspaceId],
    put: (workspaceId: string, act: (before: Entry | undefined) => Entry | undefined) =>
      change((all) => {
        const next = act(all[owner]?.[workspaceId])
        return next && { ...all, [owner]: { ...all[owner], [workspaceId]: next } }
      }),
  }
}
