/** Accounts on this machine: register, log in and out, and what the commands would use. */

import { openApi } from '../../client/api.ts'
import { fingerprint } from '../../client/keys.ts'
import { recoverAccount } from '../../client/recovery.ts'
import { logIn, signUp } from '../../client/vault.ts'
import { getMe, logout } from '../../features/accounts/contract.ts'
import { getStatus } from '../../features/health/contract.ts'
import { toBase64 } from '../../platform/crypto/encoding.ts'
import { demandSafeAddress } from '../addresses.ts'
import type { passwordOptions } from '../catalogue/options.ts'
import type { Action, OptionValues } from '../command.ts'
import { forgetNames } from '../completion/names.ts'
import type { Context } from '../context.ts'
import type { SessionStore, StoredSession } from '../session_store.ts'
import { globalFile, updateFile } from '../settings.ts'
import { CliError } from '../terminal/cli_error.ts'
import { askSecret, readPasswordFromStdin } from '../terminal/prompts.ts'

const LEAST_PASSWORD = 8

type PasswordOptions = OptionValues<typeof passwordOptions>

/** What is shown of a session that was just made. */
type Entered = { email: string; server: string; workspaces: string[]; session_in: string }

export const register: Action<typeof passwordOptions> = async (context, [email = ''], options) => {
  const server = await context.server()
  const password = await readNewPassword(options)
  const store = await preparedStore(context)
  const recoveryKey = await signUp(server, email, password)
  const entered = await enter(context, store, email, password)
  showEntered(context, entered, recoveryKey)
  context.output.say('Welcome. Your keys were made here; the server cannot read them.')
  showRecoveryKey(context, recoveryKey)
  return undefined
}

export const login: Action<typeof passwordOptions> = async (context, [email = ''], options) => {
  // No password is asked for on behalf of a server that is not trusted.
  await context.server()
  const password = await readPassword(options, false)
  const entered = await enter(context, await preparedStore(context), email, password)
  context.output.record(entered)
  return undefined
}

/** Sets a new password with the recovery key; the key is used up and replaced. */
export const recover: Action<typeof passwordOptions> = async (context, [email = ''], options) => {
  const server = await context.server()
  const hint = 'set SERVICE_RECOVERY_KEY'
  const given = context.env.SERVICE_RECOVERY_KEY ?? (await askSecret('Recovery key', { hint }))
  const password = await readNewPassword(options)
  const store = await preparedStore(context)
  const next = await recoverAccount(server, email, given, password)
  showEntered(context, await enter(context, store, email, password), next)
  context.output.say('The password is changed; all other sessions have ended.')
  showRecoveryKey(context, next)
  return undefined
}

function showEntered({ output }: Context, entered: Entered, recoveryKey: string): void {
  output.record(output.isJson ? { ...entered, recovery_key: recoveryKey } : entered)
}

/** Also with --quiet: it is shown this once. */
function showRecoveryKey(context: Context, recoveryKey: string): void {
  if (context.output.isJson) return
  context.output.warn(
    'Recovery key, shown this once. Without it a forgotten password loses everything:',
  )
  context.output.warn(recoveryKey)
}

/** Asks for what keeping the session takes before the server is asked for anything. */
async function preparedStore(context: Context): Promise<SessionStore> {
  const store = await context.store()
  await store.prepare()
  return store
}

async function readNewPassword(options: PasswordOptions): Promise<string> {
  const password = await readPassword(options, true)
  if (password.length >= LEAST_PASSWORD) return password
  throw new CliError('usage', `the password must have at least ${LEAST_PASSWORD} characters`)
}

async function enter(
  context: Context,
  store: SessionStore,
  email: string,
  password: string,
): Promise<Entered> {
  const server = await context.server()
  const session = await logIn(server, email, password)
  const known = await store.read().catch(() => null)
  await store.write({
    server,
    email: session.email,
    access: session.access,
    refresh: session.refresh,
    privateKey: toBase64(session.privateKey),
    publicKey: toBase64(session.publicKey),
    knownKeys: known?.email === session.email && known.server === server ? known.knownKeys : {},
  })
  if (context.settings.server?.origin === 'flag') updateFile(globalFile(context.env), { server })
  return {
    email: session.email,
    server,
    workspaces: session.workspaces.map(({ name }) => name),
    session_in: store.location,
  }
}

async function readPassword(options: PasswordOptions, isNew: boolean): Promise<string> {
  if (options.passwordStdin) return readPasswordFromStdin()
  const hint = 'give the password on standard input with --password-stdin'
  return askSecret(isNew ? 'Choose a password' : 'Password', { isNew, hint })
}

/** Forgets the session here even when the server cannot be told. */
export const logOut: Action = async (context) => {
  const store = await context.store()
  const stored = await store.read().catch(() => null)
  if (stored) {
    await endOnServer(context, stored).catch(() =>
      context.output.warn('the server could not be told; the session ends there when it expires'),
    )
  }
  await store.clear()
  forgetNames(context.env)
  context.output.done('Logged out.', { logged_out: stored?.email ?? null })
  return undefined
}

async function endOnServer(
  { insecureHttp }: Context,
  { server, access, refresh }: StoredSession,
): Promise<void> {
  demandSafeAddress(server, insecureHttp, 'the server')
  await openApi(server, () => access).call(logout, { body: { refresh_token: refresh } })
}

export const whoAmI: Action = async (context) => {
  const session = await context.session()
  const me = await session.api.call(getMe, {})
  context.output.record({
    email: me.email,
    name: [me.first_name, me.last_name].filter(Boolean).join(' '),
    id: me.id,
    server: session.server,
    fingerprint: fingerprint(session.publicKey),
  })
  return undefined
}

export const status: Action = async (context) => {
  const server = await context.server()
  const store = await context.store()
  const [health, stored] = await Promise.all([
    openApi(server).call(getStatus, {}),
    store.read().catch(() => 'locked' as const),
  ])
  context.output.record({
    server,
    health: health.status,
    version: health.version,
    logged_in: stored === 'locked' ? stored : (stored?.email ?? 'nobody'),
    session_in: store.location,
    workspace: context.settings.workspace?.value,
    project: context.settings.project?.value,
    environment: context.setting('environment'),
  })
  return undefined
}
