/** Scripts that run in the worker of the keys, before its own. */
import type { BrowserContext, Route } from 'playwright-core'

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
    const [response, ...before] = await Promise.all([
      fetchByAddress(route),
      ...added.map((each) => each()),
    ])
    await route.fulfill({ response, body: [...before, await response.text()].join(';\n') })
  })
}

/** The local console has a host name that only browsers resolve. */
function fetchByAddress(route: Route) {
  const url = new URL(route.request().url())
  const { host } = url
  if (url.hostname.endsWith('.localhost')) url.hostname = '127.0.0.1'
  return route.fetch({ url: url.href, headers: { ...route.request().headers(), host } })
}
