/**
 * The only holder of keys: the seed of the account, and the keys of workspaces and environments, live in this
 * worker's memory. Nothing of them is in what it posts; a value leaves it by `secrets.reveal` alone, and a token that
 * was just made by `agents.newToken`.
 */

import { accountsCommands } from './commands/accounts.ts'
import { commandNamed } from './commands/index.ts'
import { ensureCurves } from './curves.ts'
import { failureFrom } from './failure.ts'
import { openHeld } from './held.ts'
import type { FromWorker, ToWorker } from './messages.ts'

const post = (message: FromWorker) => postMessage(message)

const opening = open()

async function open() {
  await ensureCurves()
  const held = await openHeld(
    (account) => post({ account }),
    (notice) => post({ notice }),
  )
  // Who works here is known before anything else is asked.
  await accountsCommands
    .state(held, null)
    .catch((error) => post({ account: { kind: 'unavailable', failure: failureFrom(error) } }))
  return held
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  const { id, name, input } = data
  try {
    const held = await opening
    const run = await commandNamed(name)
    const output = await held.while(() => run(held, input, (progress) => post({ id, progress })))
    post({ id, output })
  } catch (error) {
    post({ id, failure: failureFrom(error) })
  }
}
