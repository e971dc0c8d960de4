import { RecoveryInDoubt, recoverByKey } from '../../../client/account/recovery.ts'
import { ApiError, openApi } from '../../../client/http/api.ts'
import { logInByPassword, signUp } from '../../../client/vault.ts'
import { toBase64 } from '../../../core/crypto/encoding.ts'
import { getStatus } from '../../../features/health/contract.ts'
import { nameFor } from '../../accounts/choice.ts'
import {
  type Account,
  accountOf,
  FIRST_SLOT,
  keepAccount,
  type Registry,
} from '../../accounts/registry.ts'
import type { entranceOptions } from '../../catalogue/options.ts'
import type { Action, OptionValues } from '../../command.ts'
import type { Context } from '../../context.ts'
import { demandWritable } from '../../files/replace.ts'
import { usualList } from '../../session/chosen.ts'
import { takeNewKeys } from '../../session/next_keys.ts'
import { forgetOwnValues, type Holder, openOwnValues } from '../../session/own_values.ts'
import type { SessionStore } from '../../session/session_store.ts'
import { configDirectory, globalFile, updateFile } from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { askSecret } from '../../terminal/prompts.ts'
import { openKnownChains } from '../../trust/known_chains.ts'
import { learnKeys, openKnownNames } from '../../trust/known_names.ts'
import { readNewPassword, showRecoveryKey, withPassword } from './passwords.ts'

type EntranceOptions = OptionValues<typeof entranceOptions>

/** What is shown of a session that was just made. */
type Entered = {
  account: string
  email: string
  server: string
  workspaces: string[]
  session_in: string
}

export const register: Action<typeof entranceOptions> = async (context, [email = ''], options) => {
  const server = await reachServer(context)
  const password = await readNewPassword(context, options, email)
  const place = await placeFor(context, email, options)
  const code = context.env.SERVICE_OWNER_CODE
  const { argon2id } = context.host
  const { recoveryKey, workspaceId, known } = await signUp(
    server,
    email,
    password,
    true,
    code,
    argon2id,
  ).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'already_exists' ? knownAddress(email) : error
  })
  const entered = await orShowRecoveryKey(context, { email, recoveryKey }, async () => {
    if (known) openKnownChains(context.env, server).remember(workspaceId, known)
    openKnownNames(context.env, server).accept(usualList({ email }), '', [workspaceId])
    return enter(context, place, password)
  })
  showEntered(context, entered, recoveryKey)
  context.output.say('Welcome. Your keys were made here; the server cannot read them.')
  showRecoveryKey(context, recoveryKey)
  return undefined
}

/** Before a password is asked for: the server is trusted, and answers. @throws CliError, ApiError */
async function reachServer(context: Context): Promise<string> {
  const server = await context.server()
  await openApi(server).call(getStatus, {})
  return server
}

function knownAddress(email: string): CliError {
  return new CliError(
    'account_exists',
    `${email} has an account on this server`,
    `log in with: cloakroom login ${email}; without the password: cloakroom recover ${email}`,
  )
}

export const login: Action<typeof entranceOptions> = async (context, [email = ''], options) => {
  await reachServer(context)
  let place: Place | undefined
  const entered = await withPassword(context, options, async (password) => {
    place ??= await placeFor(context, email, options)
    return enter(context, place, password)
  })
  context.output.record(entered)
  return undefined
}

/** Sets a new password with the recovery key; the key is used up and replaced. */
export const recover: Action<typeof entranceOptions> = async (context, [email = ''], options) => {
  const server = await reachServer(context)
  const hint = 'set SERVICE_RECOVERY_KEY'
  const given =
    context.env.SERVICE_RECOVERY_KEY ?? (await askSecret(context.host, 'Recovery key', { hint }))
  const password = await readNewPassword(context, options, email)
  const place = await placeFor(context, email, options)
  const next = await recoverByKey(server, email, given, password, context.host.argon2id).catch(
    (error: unknown) => {
      if (error instanceof RecoveryInDoubt) keepRecoveryKey(context, email, error.recoveryKey)
      throw error
    },
  )
  // The old key is spent: whatever fails from here on, the next one is shown.
  showRecoveryKey(context, next)
  const entered = await enter(context, place, password).catch((error: unknown) => {
    if (context.output.isJson) context.output.record({ email, recovery_key: next })
    context.output.warn(`The password is changed. Sign in with: cloakroom login ${email}`)
    throw error
  })
  showEntered(context, entered, next)
  context.output.say('The password is changed. All other sessions ended; passkeys are removed.')
  return undefined
}

/** The server has it, and shows it to nobody: what fails afterwards must not lose it. */
async function orShowRecoveryKey<T>(
  { output }: Context,
  { email, recoveryKey }: { email: string; recoveryKey: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const next = `cloakroom login ${email}`
    output.warn(`The server did it. Keep this recovery key, then run: ${next}`, recoveryKey)
    throw error
  }
}

/** Of a server that did not answer: if it has the new password, only this key recovers the account. */
function keepRecoveryKey(context: Context, email: string, recoveryKey: string): void {
  const { output } = context
  if (output.isJson) output.record({ email, recovery_key: recoveryKey })
  output.warn('The server did not answer. Keep both recovery keys, and sign in to find out.')
  showRecoveryKey(context, recoveryKey)
}

function showEntered({ output }: Context, entered: Entered, recoveryKey: string): void {
  output.record(output.isJson ? { ...entered, recovery_key: recoveryKey } : entered)
}

/** Where a session will be kept, and under which name. */
type Place = { account: Account; store: SessionStore; known: Registry }

/** Asks for what keeping the session takes before the server is asked for anything. @throws CliError */
async function placeFor(context: Context, email: string, options: EntranceOptions): Promise<Place> {
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

async function enter(
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
  await tellOthers(context, account, known)
  return {
    account: account.name,
    email: session.email,
    server,
    workspaces: session.workspaces.map(({ name }) => name),
    session_in: store.location,
  }
}

/** Whom commands no longer mean, unless they are named. */
async function tellOthers(
  context: Context,
  account: Account,
  { all, inUse }: Registry,
): Promise<void> {
  const { output } = context
  const { name, slot } = account
  const before = all.find((other) => other.slot === slot)
  if (before && before.name !== name) output.note(`${before.name} is called ${name} now.`)
  if (inUse && inUse.slot !== slot) {
    const back = `cloakroom account use ${inUse.name}`
    output.note(`${name} is in use now; ${inUse.name} is still logged in: ${back}`)
  }
  await tellExceptions(context, account)
}

/** What was just chosen may count for less than something nearer. */
export async function tellExceptions(
  { accounts, output }: Context,
  account: Account,
): Promise<void> {
  const named = await accounts.named()
  if (!named || named.account?.slot === account.slot) return
  output.note(`Here it is still ${named.person.email}, ${named.why}.`)
}
