/** Scripts that run in the worker of the keys, before its own. */
import type { BrowserContext } from 'playwright-core'

type Script = () => Promise<string>

const scripts = new WeakMap<BrowserContext, Script[]>()

/** In each worker that this browser context starts from now on. Only one route can change a file. */
export async function runBeforeKeysWorker(context: BrowserContext, script: Script): Promise<void> {
  const known = scripts.get(context)
  if (known) {
    known.push(script)
    return
  }
  const added = [script]
  scripts.set(context, added)
  await context.route('**/assets/worker-*.js', async (route) => {
    const [response, ...before] = await Promise.all([route.fetch(), ...added.map((each) => each())])
    await route.fulfill({ response, body: [...before, await response.text()].join(';\n') })
  })
}
