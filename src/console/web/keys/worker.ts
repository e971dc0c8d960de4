/**
 * The worker that holds all keys: the account's seed, and the keys of workspaces and environments. Its messages contain
 * no key. Only `secrets.reveal` returns a value, and only `agents.newToken` returns a new token.
 */

import { accountsCommands } from './commands/accounts.ts'
import { commandNamed } from './commands/index.ts'
import { ensureCurves } from './curves.ts'
import { failureFrom } from './failure.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { openUnlockedSession } from './unlocked_session.ts'

const post = (message: FromWorker) => postMessage(message)

const opening = open()

async function open() {
  await ensureCurves()
  const session = await openUnlockedSession(
    (account) => post({ account }),
    (notice) => post({ notice }),
  )
  // Load the user before the first command runs.
  await accountsCommands
    .state(session, null)
    .catch((error) => post({ account: { kind: 'unavailable', failure: failureFrom(error) } }))
  return session
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  const { id, name, input } = data
  try {
    const session = await opening
    const run = await commandNamed(name)
    const output = await session.holdKeysDuring(() =>
      run(session, input, (progress) => post({ id, progress })),
    )
    post({ id, output })
  } catch (error) {
    post({ id, failure: failureFrom(error) })
  }
}
