/** Serves the console's files, which src/dev/console.ts builds and the executable contains. */
import { runOnceWithRetry } from '../core/async/once.ts'
import { digestInHex, PAGE_HEADERS, readArchive, sendFile } from './archive_files.ts'
import { buildOnDemand, runsFromSource } from './build_on_demand.ts'

/** Every path below /console/ that is not a file is a route of the page. */
const PATH = '/console/'
const INDEX = 'index.html'
const SUMS = 'SHA256SUMS'

export type Console = {
  /** SHA-256 of its SHA256SUMS, as published with a release. */
  hash: string
  /** Answers GET and HEAD of a path below /console/. */
  respond(request: Request): Response
}

/** Milliseconds: a build takes ten seconds of a core, and anyone may ask for the page. */
const RETRY_MS = 10_000

/** Opens the console once. After a failure, calls retry ten seconds later. @throws NotBuilt if it runs from source */
export const openConsole = runOnceWithRetry(open, RETRY_MS)

/** Null if it runs from source: startup does not wait for the build, and no release publishes its hash. */
export async function readEmbeddedHash(): Promise<string | null> {
  return runsFromSource ? null : (await openConsole()).hash
}

async function open(): Promise<Console> {
  await buildOnDemand('console')
  const { default: path } = await import('../../dist/console.tar', { with: { type: 'file' } })
  const files = await readArchive(path)
  const sums = files.get(SUMS)
  if (!sums) throw new Error('the console is not embedded')
  const respond = (request: Request) => {
    const { pathname } = new URL(request.url)
    const name = pathname.slice(PATH.length)
    const file = files.get(name)
    // A missing asset must not be answered with the page.
    if (!file && name.startsWith('assets/'))
      return new Response(null, { status: 404, headers: PAGE_HEADERS })
    const index = files.get(INDEX)
    return file || !index ? sendFile(request, file ?? sums) : sendFile(request, index)
  }
  return { hash: digestInHex(sums.plain), respond }
}
