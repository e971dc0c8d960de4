/**
 * Serves the page that shows every part of the console with its rule, under the console's own headers. It is no part
 * of a release, and needs no server.
 *
 * bun src/dev/design.ts [--port 4600]
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { mediaTypeOf, PAGE_HEADERS } from '../console/archive_files.ts'
import { bundlePage } from './console.ts'

const MAIN = join(import.meta.dir, '..', 'console', 'web', 'design', 'main.tsx')
const PATH = '/console/'
const PORT = '4600'

/** @param port 0 for any free one */
export async function serveDesignPage(port: number) {
  const { files } = await bundlePage(MAIN, () => true)
  const fetch = (request: Request) => {
    const name = new URL(request.url).pathname.slice(PATH.length)
    const file = files.has(name) ? name : 'index.html'
    const headers = { ...PAGE_HEADERS, 'content-type': mediaTypeOf(file) }
    return new Response(new Uint8Array(files.get(file) ?? []), { headers })
  }
  return Bun.serve({ hostname: '127.0.0.1', port, fetch })
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: PORT } } })
  const { port } = await serveDesignPage(Number(values.port))
  process.stderr.write(`The design page is at http://localhost:${port}${PATH}design\n`)
}
