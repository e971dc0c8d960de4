import { logInByPassword } from '../../client/account/log_in.ts'
import { openApi } from '../../client/http/api.ts'
import { toBase64 } from '../../core/crypto/encoding.ts'
import { getStatus } from '../../features/health/contract.ts'
import type { OptionValues } from '../command.ts'
import type { Context } from '../context.ts'
import { demandWritable } from '../files/replace.ts'
import type { entranceOptions } from '../options.ts'
import { takeNewKeys } from '../session/next_keys.ts'
import { forgetOwnValues, type Holder, openOwnValues } from '../session/own_values.ts'
import type { SessionStore } from '../session/session_store.ts'
import { configDirectory, globalFile, updateFile } from '../settings.ts'
import { openKnownNames } from '../trust/known.ts'
import { learnKeys } from '../trust/known_names.ts'
import { nameFor } from './choice.ts'
import { type Account, accountOf, FIRST_SLOT, keepAccount, type Registry } from './registry.ts'

type EntranceOptions = OptionValues<typeof entranceOptions>

/** The printed facts about a new session. */
type Entered = {
  account: string
  email: string
  server: string
  workspaces: string[]
  session_in: string
}

/** Before a password is asked for: the server is trusted, and answers. @throws CliError, ApiError */
export async function reachServer(context: Context): Promise<string> {
  const server = await context.server()
  await openApi(server).call(getStatus, {})
  return server
}

export function showEntered({ output }: Context, entered: Entered, recoveryKey: string): void {
  output.record(output.isJson ? { ...entered, recovery_key: recoveryKey } : entered)
}

/** The place and name of a new session. */
export type Place = { account: Account; store: SessionStore; known: Registry }

/** Prompts for the session's passphrase before any request to the server. @throws CliError */
export async function placeFor(
  context: Context,
  email: string,
  options: EntranceOptions,
): Promise<Place> {
  demandWritable(configDirectory(context.env))
  const known = await context.accounts.registry()
  const person = { server: await context.server(), email }
  const { slot } = accountOf(known, person) ?? { slot: freeSlot(known) }
  const account = { ...person, slot, name: nameFor(known, { ...person, slot }, options.name) }
  const store = await context.accounts.store(slot)
  await store.prepare()
  return { account, store, known }
}

/** The first account has the place that the only one had. */
function freeSlot({ all }: Registry): string {
  const isTaken = all.some(({ slot }) => slot === FIRST_SLOT)
  return isTaken ? `${FIRST_SLOT}-${crypto.randomUUID()}` : FIRST_SLOT
}

export async function enter(
  context: Context,
  { account, store, known }: Place,
  password: string,
): Promise<Entered> {
  const { server } = account
  const session = await logInByPassword(server, account.email, password, context.host.argon2id)
  learnKeys(openKnownNames(context.env, server), session.email, toBase64(session.publicKey))
  const before = await store.read().catch(() => null)
  const isSame = before?.email === session.email && before.server === server
  const isNew = before !== null && before.publicKey !== toBase64(session.publicKey)
  const ownOf = (holder: Holder) => openOwnValues(context.env, account.slot, holder)
  if (isNew && isSame) await takeNewKeys(ownOf, before, session, context.output.warn)
  // Another account could not open them.
  else if (isNew) forgetOwnValues(context.env, account.slot)
  const kept = isSame ? before : { next: null, knownKeys: {}, agentTokens: {} }
  await store.write({
    server,
    email: session.email,
    access: session.access,
    refresh: session.refresh,
    privateKey: toBase64(session.privateKey),
    publicKey: toBase64(session.publicKey),
    seed: session.seed && toBase64(session.seed),
    next: isNew ? null : kept.next,
    knownKeys: kept.knownKeys,
    agentTokens: kept.agentTokens,
  })
  const { resolver } = context.settings
  const own = resolver?.origin === 'flag' || resolver?.origin === 'account' ? resolver.value : null
  keepAccount(context.env, { ...account, ...(own === null ? {} : { resolver: own }) })
  if (context.settings.server?.origin === 'flag') updateFile(globalFile(context.env), { server })
  await noteOtherAccounts(context, account, known)
  return {
    account: account.name,
    email: session.email,
    server,
    workspaces: session.workspaces.map(({ name }) => name),
    session_in: store.location,
  }
}

/** Prints the account's former name, and how to return to the account that was in use before. */
async function noteOtherAccounts(
  context: Context,
  account: Account,
  { all, inUse }: Registry,
): Promise<void> {
  const { output } = context
  const { name, slot } = account
  const before = all.find((other) => other.slot === slot)
  if (before && before.name !== name) output.note(`${before.name} is now called ${name}.`)
  if (inUse && inUse.slot !== slot) {
    const back = `cloakroom account use ${inUse.name}`
    output.note(`Now using ${name}. ${inUse.name} is still signed in; to return: ${back}`)
  }
  await noteOverrides(context, account)
}

/** A nearer setting may override the new choice. */
export async function noteOverrides(
  { accounts, output }: Context,
  account: Account,
): Promise<void> {
  const named = await accounts.named()
  if (!named || named.account?.slot === account.slot) return
  output.note(`This folder still uses ${named.person.email}, ${named.why}.`)
}
