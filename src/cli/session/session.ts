/** A logged-in person on this machine: calls that renew their tokens, and workspaces that open. */

import type { AccountKeys } from '../../client/account/account_keys.ts'
import type { Argon2id } from '../../client/account/argon2.ts'
import type { Api } from '../../client/http/api.ts'
import type { KnownNames } from '../../client/known_names.ts'
import { type Chains, UntrustedChain } from '../../client/signed/chain.ts'
import type { OpenWorkspace } from '../../client/workspace.ts'
import type { KnownWorkspaceKeys } from '../../client/workspace_key.ts'
import { isJoined, readWorkspaces, type WorkspaceEntry } from '../../client/workspaces.ts'
import { type Bytes, fromBase64 } from '../../core/crypto/encoding.ts'
import { type Identity, identityOf } from '../../sigchain/index.ts'
import type { Choice } from '../accounts/choice.ts'
import type { Names } from '../completion/names.ts'
import { CliError } from '../terminal/cli_error.ts'
import type { Output } from '../terminal/output.ts'
import { notePlainWorkspace } from '../trust/chains.ts'
import { type AskAhead, askAheadWith } from './ahead.ts'
import { choose, namesOfWorkspaces } from './chosen.ts'
import type { LocalWrites } from './local_writes.ts'
import { withRoleExplanations } from './named_roles.ts'
import { type OwnValues, openOwnValues } from './own_values.ts'
import { withRenewal } from './renewal.ts'
import type { SessionStore, StoredSession } from './session_store.ts'

export type Session = AccountKeys & {
  /** The account of the session, and why it was chosen. */
  choice: Choice
  argon2id: Argon2id | undefined
  email: string
  server: string
  api: Api
  /** Sends a request that the command is about to make. */
  askAhead: AskAhead
  /** Every workspace of this person, with its key if it can be decrypted. */
  workspaces(): Promise<WorkspaceEntry[]>
  /** A workspace by id or name, with its key. @throws CliError */
  workspace(named: string | undefined): Promise<WorkspaceEntry & { open: OpenWorkspace }>
  /** Accepts untrusted and unreadable keys. */
  entry(named: string | undefined): Promise<WorkspaceEntry>
  workspaceKeys: KnownWorkspaceKeys
  knownNames: KnownNames
  /** The chains of signed workspaces. */
  chains: Chains
  /** @throws CliError for an account that cannot sign */
  identity(): Promise<Identity>
  /** The own values of this person on this machine, which replace stored values. */
  own: OwnValues
  /** Local records of changes on the server. */
  writes: LocalWrites
  stored: StoredSession
  store: SessionStore
}

/** Pinned data of the account's workspaces, and the folder with the person's values. */
type Known = {
  env: Record<string, string | undefined>
  argon2id: Argon2id | undefined
  names: Names
  workspaceKeys: KnownWorkspaceKeys
  knownNames: KnownNames
  chains(api: Api): Chains
  writes: LocalWrites
  warn: Output['warn']
}

/** @throws CliError where the session is not there, or is not the account's */
export async function resumeSession(
  store: SessionStore,
  choice: Choice,
  known: Known,
): Promise<Session> {
  const { account } = choice
  const stored = await store.read()
  if (stored?.server === account.server) return openSession(store, stored, choice, known)
  throw new CliError(
    'session_ended',
    `the session of ${account.name} is no longer in ${store.location}`,
    `sign in again with: cloakroom login ${account.email}`,
  )
}

function openSession(
  store: SessionStore,
  stored: StoredSession,
  choice: Choice,
  { env, argon2id, names, workspaceKeys, knownNames, writes, warn, ...known }: Known,
): Session {
  let place: WorkspaceEntry | null = null
  const { api: early, askAhead } = askAheadWith(withRenewal(store, stored))
  const api = withRoleExplanations(writes.checking(withNameLearning(early, names)), () => place)
  const chains = known.chains(api)
  const onPlainWorkspace = (shown: OpenWorkspace) => notePlainWorkspace(shown, warn)
  const trust = { chains, workspaceKeys, onPlainWorkspace }
  const privateKey = decode(stored.privateKey, stored.email)
  const publicKey = decode(stored.publicKey, stored.email)
  const seed = stored.seed === null ? null : decode(stored.seed, stored.email)
  const identity = () => deriveSigningIdentity(seed)
  const workspaces = async () => {
    const entries = await readWorkspaces({ api, trust, identity, privateKey, publicKey })
    knownNames.learn(namesOfWorkspaces(stored), entries.filter(isJoined))
    return entries
  }
  const about = { email: stored.email, knownNames, chains, identity }
  const entry = async (named: string | undefined) => {
    place = await choose(about, await workspaces(), named)
    return place
  }
  return {
    choice,
    argon2id,
    email: stored.email,
    server: stored.server,
    api,
    askAhead,
    privateKey,
    publicKey,
    seed,
    identity,
    chains,
    workspaces,
    entry,
    workspace: async (named) => withKey(await entry(named)),
    workspaceKeys,
    knownNames,
    own: openOwnValues(env, choice.account.slot, {
      server: stored.server,
      publicKey: stored.publicKey,
      privateKey,
    }),
    writes,
    stored,
    store,
  }
}

function withKey(entry: WorkspaceEntry): WorkspaceEntry & { open: OpenWorkspace } {
  if (entry.open) return { ...entry, open: entry.open }
  if (entry.fault instanceof UntrustedChain) throw entry.fault
  if (entry.fault) {
    throw new CliError(
      'changed_key',
      `${entry.fault.message}; nothing was done`,
      `compare it with another member, then accept it: cloakroom workspace accept-key ${entry.name}`,
    )
  }
  throw new CliError(
    'unreadable_workspace',
    `the key of ${entry.name} cannot be decrypted with your private key`,
    'ask an admin to invite you again',
  )
}

/** Names in responses are kept for completion. */
export function withNameLearning(api: Api, names: Names): Api {
  return {
    ...api,
    call: async (endpoint, input) => {
      const answer = await api.call(endpoint, input)
      names.learn(endpoint, input, answer)
      return answer
    },
    list: async (endpoint, input) => {
      const answer = await api.list(endpoint, input)
      names.learn(endpoint, input, answer)
      return answer
    },
    whole: async (endpoint, input) => {
      const answer = await api.whole(endpoint, input)
      names.learn(endpoint, input, answer.data)
      return answer
    },
  }
}

async function deriveSigningIdentity(seed: Bytes | null): Promise<Identity> {
  if (seed !== null) return identityOf(seed)
  throw new CliError(
    'not_permitted',
    'this account has no signing key',
    'create one with: cloakroom account rotate-keys',
  )
}

function decode(text: string, email: string): Bytes {
  const bytes = fromBase64(text)
  if (!bytes)
    throw new CliError(
      'session_ended',
      'the stored session is damaged',
      `sign in again with: cloakroom login ${email}`,
    )
  return bytes
}
