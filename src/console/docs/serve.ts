/** Serves the documentation, which src/dev/docs builds and the executable contains. An address is looked up in a table. */
import { runOnceWithRetry } from '../../core/async/once.ts'
import { readArchive, sendFile } from '../archive_files.ts'
import { buildOnDemand } from '../build_on_demand.ts'

const HTML = '.html'
const INDEX = 'index'
const UNKNOWN = '404'
const MODELS = 'llms.txt'
/** Milliseconds: a build takes seconds of a core, and anyone may ask for the page. */
const RETRY_MS = 10_000

export type Docs = {
  /** Answers GET and HEAD of a path below /docs/, and of /llms.txt. */
  respond(request: Request): Response
}

/** Opens the documentation once. After a failure, calls retry ten seconds later. @throws NotBuilt if it runs from source */
export const openDocs = runOnceWithRetry(open, RETRY_MS)

async function open(): Promise<Docs> {
  await buildOnDemand('documentation')
  const { default: path } = await import('../../../dist/docs.tar', { with: { type: 'file' } })
  const files = new Map(
    [...(await readArchive(path))].map(([name, file]) => [addressOf(name), file]),
  )
  const unknown = files.get(`/docs/${UNKNOWN}`)
  if (!unknown) throw new Error('the documentation is not embedded')
  return {
    respond: (request) => {
      const { pathname } = new URL(request.url)
      const isIndex = pathname === '/docs' || pathname === '/docs/index'
      const file = files.get(isIndex ? '/docs/' : pathname.replace(/(?<=^\/docs\/.+)\/$/, ''))
      return file ? sendFile(request, file) : sendFile(request, unknown, 404)
    },
  }
}

function addressOf(name: string): string {
  if (name === MODELS) return `/${MODELS}`
  const page = name.endsWith(HTML) ? name.slice(0, -HTML.length) : name
  return `/docs/${page === INDEX ? '' : page}`
}
