/** `cloakroom account rotate-keys`: new keys of the account, where the old ones may be known to others. */
import { rotateKeys } from '../../../client/account/rotation.ts'
import type { OpenWorkspace } from '../../../client/vault.ts'
import { toBase64 } from '../../../platform/crypto/encoding.ts'
import type { deleteAccountOptions } from '../../catalogue/options.ts'
import type { Action } from '../../command.ts'
import type { Session } from '../../session/session.ts'
import { CliError } from '../../terminal/cli_error.ts'
import { confirmed } from '../../terminal/confirmed.ts'
import { withPassword } from './credentials.ts'
import { readPassword, showRecoveryKey } from './passwords.ts'

export const rotate: Action<typeof deleteAccountOptions> = async (context, _, options) => {
  const session = await context.session()
  const { email, server, store } = session
  await confirmed(
    options,
    `Replace the keys of ${email} at ${server}? All other sessions end, the earlier recovery key is worth nothing any more, and what you granted tokens in signed workspaces ends.`,
  )
  await openAll(session)
  const password = await readPassword(options)
  const { keys, recoveryKey, workspaces } = await withPassword(
    rotateKeys(session, password, () => openAll(session)),
  )
  const [privateKey, publicKey] = [toBase64(keys.privateKey), toBase64(keys.publicKey)]
  const now = (await store.read()) ?? session.stored
  await store.write({ ...now, privateKey, publicKey, seed: keys.seed && toBase64(keys.seed) })
  session.own.rekey({ server, publicKey, privateKey: keys.privateKey })
  const names = workspaces.map(({ name }) => name)
  context.output.done(`The keys of ${email} are new; all other sessions have ended.`, {
    ...{ rotated: email, rekey_required: names },
    ...(context.output.isJson ? { recovery_key: recoveryKey } : {}),
  })
  const each = names.map((name) => `  cloakroom workspace rekey -w ${name}`)
  context.output.say(['Who has the old keys may have these workspaces’ keys:', ...each].join('\n'))
  showRecoveryKey(context, recoveryKey)
  return undefined
}

/** All of them, invited ones too: what is left out could not be opened any more. @throws CliError */
async function openAll(session: Session): Promise<OpenWorkspace[]> {
  const entries = await session.workspaces()
  return entries.map(({ name, shown, fault }) => {
    if (fault) throw fault
    if (shown) return shown
    throw new CliError(
      'unreadable_workspace',
      `the key of ${name} does not open with your private key; nothing was changed`,
      'leave or decline it first, or ask an admin to invite you anew',
    )
  })
}
