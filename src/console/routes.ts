/** The console's address on the control plane. */
import { z } from 'zod'
import { defineEndpoint } from '../http/endpoint.ts'
import { type Route, rawRoute } from '../http/route.ts'
import { ConsoleNotBuilt } from './build_on_demand.ts'
import { openConsole } from './serve.ts'

/** Below the 10 seconds after which Bun closes an idle connection. */
const BUILD_WAIT_MS = 8_000

const getConsole = defineEndpoint({
  name: 'console.file',
  summary: 'Get a file of the console',
  method: 'GET',
  path: '/console/{path}',
  restOfPath: true,
  access: { kind: 'public' },
  params: z.object({ path: z.string() }),
  mediaType: '*/*',
})

export function consoleRoutes(): Route[] {
  return [
    rawRoute(getConsole, async ({ request, requestId }) => {
      const response = await respondTo(request)
      response.headers.set('x-request-id', requestId)
      return response
    }),
  ]
}

async function respondTo(request: Request): Promise<Response> {
  try {
    const console = await Promise.race([openConsole(), Bun.sleep(BUILD_WAIT_MS)])
    if (console) return console.respond(request)
    return unavailable('The console is being built. This page reloads itself.', { refresh: '2' })
  } catch (error) {
    if (error instanceof ConsoleNotBuilt) return unavailable(`${error.message} ${error.fix}`)
    throw error
  }
}

function unavailable(sentence: string, headers: Record<string, string> = {}): Response {
  return new Response(`${sentence}\n`, {
    status: 503,
    headers: {
      ...headers,
      'cache-control': 'no-store',
      'content-type': 'text/plain;charset=utf-8',
    },
  })
}
