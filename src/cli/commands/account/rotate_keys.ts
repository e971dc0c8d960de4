/** `cloakroom account rotate-keys`: new keys of the account, where the old ones may be known to others. */
import { writeRecoveryKey } from '../../../client/account/recovery.ts'
import {
  generateNextKeys,
  isTaken,
  type NextKeys,
  ownTokens,
  type Rotated,
  rotateKeys,
  UnknownOutcome,
} from '../../../client/actions/rotate_keys.ts'
import { listHiddenWorkspaces } from '../../../client/known_names.ts'
import type { OpenWorkspace } from '../../../client/workspace.ts'
import { isJoined } from '../../../client/workspaces.ts'
import { showRecoveryKey, withPassword } from '../../accounts/passwords.ts'
import { command } from '../../command.ts'
import type { Context } from '../../context.ts'
import { demandWritable } from '../../files/replace.ts'
import { keepToken, passwordStdin, yes } from '../../options.ts'
import { namesOfWorkspaces } from '../../session/chosen.ts'
import { keepNext, nextOf, takeNext, warnRecoveryKey } from '../../session/next_keys.ts'
import type { Session } from '../../session/session.ts'
import { configDirectory } from '../../settings.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { requireConfirmation } from '../../terminal/confirmed.ts'
import { keepAmong } from '../../tokens/ending_tokens.ts'

export default command({
  usage: 'rotate-keys',
  examples: [
    'account rotate-keys',
    'account rotate-keys --yes --password-stdin < password.txt',
    'account rotate-keys --keep-token 0190a2b4-7c1e-8d3f-9a5b-3c4d5e6f7a8b',
  ],
  options: [
    keepToken,
    ['--without <workspace...>', 'skip a deleted workspace, by ID'],
    passwordStdin,
    yes,
  ],
  action: async (context, _, options) => {
    const session = await context.session()
    demandWritable(configDirectory(context.env))
    const { email, server } = session
    const gone = options.without ?? []
    await demandAll(session, gone)
    await requireConfirmation(
      context.host,
      options,
      `Replace the keys of ${email} at ${server}? All other sessions end. The current recovery key stops working. Passkeys sign in but no longer unlock. Tokens that you granted in signed workspaces end unless kept.`,
    )
    const invitations = (await session.workspaces()).filter((one) => !isJoined(one))
    const tokens = await ownTokens(session.api, await openAll(session))
    const kept = await keepAmong(context, email, tokens.held, options)
    const waiting = await nextOf(session.stored)
    const next = waiting ?? (await generateNextKeys())
    const rotated = await withPassword(context, options, async (password) => {
      await keepNext(session, next)
      const work = rotateKeys(session, password, next, () => openAll(session), kept)
      return context.output
        .during('sealing everything to the new keys', work)
        .catch(async (error: unknown) => {
          if (error instanceof UnknownOutcome) return outcomeOf(context, session, next, error)
          await keepNext(session, waiting)
          throw error
        })
    })
    await takeNext(session, next, context.output.warn).catch((error: unknown) => {
      if (!(error instanceof CliError)) throw error
      // They are kept with the session since before the call.
      context.output.warn(`The next command uses the new keys: ${error.message}.`)
    })
    for (const id of gone) session.knownNames.forget(id)
    for (const { name } of invitations) {
      context.output.warn(
        `the invitation to ${name} was made for the old keys. Decline it, and ask to be removed and invited again`,
      )
    }
    report(context, session, rotated, tokens, writeRecoveryKey(next.recoveryKey))
  },
})

type Tokens = Awaited<ReturnType<typeof ownTokens>>

/** The state of the server after a lost response. @throws CliError if the server does not return the new keys */
async function outcomeOf(
  { output }: Context,
  { api, email }: Session,
  next: NextKeys,
  { rotated, cause }: UnknownOutcome,
): Promise<Rotated[]> {
  if (await isTaken(api, next.keys.publicKey).catch(() => false)) return rotated
  warnRecoveryKey(next, output.warn)
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  throw new CliError(
    'unknown_outcome',
    `unknown whether the server accepted the new keys of ${email}${why}`,
    'they are saved with the session and used as soon as the server returns them: cloakroom whoami',
  )
}

function report(
  context: Context,
  { email }: Session,
  rotated: readonly Rotated[],
  tokens: Tokens,
  recoveryKey: string,
): void {
  const { output } = context
  const names = rotated.map(({ workspace }) => workspace.name)
  const granted = rotated.flatMap((each) => each.granted)
  const left = [...tokens.left, ...rotated.flatMap((each) => each.left)]
  for (const { label, id, fingerprint, reason } of left)
    output.warn(`not signed again: ${label} (${id}), ${fingerprint}: ${reason}`)
  if (left.length > 0) output.note('create new tokens where needed: cloakroom token issue')
  output.done(`Replaced the keys of ${email}; all other sessions have ended.`, {
    ...{ rotated: email, rekey_required: names, granted, left },
    ...(output.isJson ? { recovery_key: recoveryKey } : {}),
  })
  if (granted.length > 0) {
    const each = granted.map(({ label, id }) => `  ${label} (${id})`)
    output.say('Signed again. Revoke tokens that you did not create:', ...each)
  }
  const each = names.map((name) => `  cloakroom workspace rekey -w ${name}`)
  output.say('Anyone with the old keys may have the keys of these workspaces:', ...each)
  showRecoveryKey(context, recoveryKey)
}

/** A server that hides one would keep the old keys in force there. @throws CliError */
async function demandAll(session: Session, gone: readonly string[]): Promise<void> {
  const shown = (await session.workspaces()).filter(isJoined)
  const list = namesOfWorkspaces(session)
  const hidden = listHiddenWorkspaces(session.knownNames, list, shown).find(
    ({ id }) => !gone.includes(id),
  )
  if (hidden === undefined) return
  const { id, name } = hidden
  throw new CliError(
    'hidden_workspace',
    `you were a member of ${name} (${id}), but the server hides it. Your old keys would stay valid there; nothing was changed`,
    `if you left, were removed, or it was deleted, run: cloakroom account rotate-keys --without ${id}`,
  )
}

/** Ignores invitations, which anyone can send. Other omitted workspaces would become unreadable. @throws CliError */
async function openAll(session: Session): Promise<OpenWorkspace[]> {
  const entries = (await session.workspaces()).filter(isJoined)
  return entries.map(({ name, shown, fault }) => {
    if (fault) throw fault
    if (shown) return shown
    throw new CliError(
      'unreadable_workspace',
      `the key of ${name} cannot be decrypted with your private key; nothing was changed`,
      `leave it first (cloakroom workspace remove ${session.email} -w ${name}), or ask an admin to invite you again`,
    )
  })
}
