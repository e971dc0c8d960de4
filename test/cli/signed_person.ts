/** Workspaces that a test declares signed or plain, and people at a terminal with such workspaces. */

import { logInByPassword, signUp } from '../../src/client/account/log_in.ts'
import { createWorkspaceKeys } from '../../src/client/actions/workspaces.ts'
import { getMe } from '../../src/features/accounts/contract.ts'
import { createWorkspaceEndpoint } from '../../src/features/workspaces/contract.ts'
import { identityOf } from '../../src/sigchain/index.ts'
import { cheapArgon2id } from '../support/cheap_argon2id.ts'
import { openTerminal, PASSWORD, type Terminal } from './person.ts'

type Server = { controlPlane: string; resolver: string }

/** A person with a signed personal workspace, which the terminal has not seen yet. */
export async function signedAccount(server: Server, email: string): Promise<Terminal> {
  await signUp(server.controlPlane, email, PASSWORD, true, undefined, cheapArgon2id)
  return loggedIn(server, email)
}

/** Another machine of the same person. */
export async function loggedIn(server: Server, email: string): Promise<Terminal> {
  const terminal = await openTerminal(server)
  const { code, err } = await terminal.run(
    ['login', email, '--password-stdin', '--insecure-storage'],
    { stdin: `${PASSWORD}\n` },
  )
  if (code !== 0) throw new Error(err)
  return terminal
}

/** A shared workspace of a person with an account. Returns its ID. */
export function signedWorkspace(server: Server, email: string, name: string): Promise<string> {
  return makeWorkspace(server, email, name, true)
}

/** A workspace in the form of older clients. */
export function plainWorkspace(server: Server, email: string, name: string): Promise<string> {
  return makeWorkspace(server, email, name, false)
}

async function makeWorkspace(server: Server, email: string, name: string, isSigned: boolean) {
  const { api, seed, publicKey } = await logInByPassword(
    server.controlPlane,
    email,
    PASSWORD,
    cheapArgon2id,
  )
  if (seed === null) throw new Error('the account cannot sign')
  const { id: userId } = await api.call(getMe, {})
  const founder = { userId, email, identity: await identityOf(seed) }
  const { order } = await createWorkspaceKeys(publicKey, isSigned ? founder : null)
  await api.call(createWorkspaceEndpoint, { body: { name, ...order } })
  return order.id
}
