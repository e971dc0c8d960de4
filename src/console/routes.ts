/** The addresses of the console and the documentation on the control plane. */
import { z } from 'zod'
import { Fault } from '../core/fault.ts'
import { defineEndpoint, type Endpoint } from '../http/endpoint.ts'
import { buildCommonHeaders } from '../http/reply.ts'
import { createRawRoute, type Route } from '../http/route.ts'
import { NotBuilt } from './build_on_demand.ts'
import { openDocs } from './docs/serve.ts'
import { openConsole } from './serve.ts'

/** Below the 10 seconds after which Bun closes an idle connection. */
const BUILD_WAIT_MS = 8_000

const file = {
  method: 'GET',
  restOfPath: true,
  access: { kind: 'public' },
  params: z.object({ path: z.string() }),
  mediaType: '*/*',
} as const

const getConsole = defineEndpoint({
  ...file,
  name: 'console.file',
  summary: 'Get a file of the console',
  path: '/console/{path}',
})

const getDocs = defineEndpoint({
  ...file,
  name: 'documentation.file',
  summary: 'Get a page or file of the documentation',
  path: '/docs/{path}',
})

const getListForModels = defineEndpoint({
  name: 'documentation.list_for_models',
  summary: 'List the pages of the documentation for language models',
  method: 'GET',
  path: '/llms.txt',
  access: { kind: 'public' },
  mediaType: 'text/plain',
})

const getRoot = defineEndpoint({
  name: 'console.root',
  summary: 'Redirect a browser to the console',
  method: 'GET',
  path: '/',
  access: { kind: 'public' },
  mediaType: 'text/html',
})

const NOT_A_PAGE = 'Not found. The console is at /console/, and the documentation at /docs/.'

export function consoleRoutes(): Route[] {
  return [
    createRawRoute(getRoot, async ({ request, requestId }) => {
      const isBrowser = /\btext\/html\b/i.test(request.headers.get('accept') ?? '')
      if (!isBrowser) throw new Fault('not_found', { message: NOT_A_PAGE })
      const headers = { ...buildCommonHeaders(requestId), location: '/console/', vary: 'accept' }
      return new Response(null, { status: 302, headers })
    }),
    routeTo(getConsole, 'The console', openConsole),
    routeTo(getDocs, 'The documentation', openDocs),
    routeTo(getListForModels, 'The documentation', openDocs),
  ]
}

type Open = () => Promise<{ respond(request: Request): Response }>

function routeTo(endpoint: Endpoint & { method: 'GET' }, subject: string, open: Open): Route {
  return createRawRoute(endpoint, async ({ request, requestId }) => {
    const response = await respondTo(request, subject, open)
    response.headers.set('x-request-id', requestId)
    return response
  })
}

async function respondTo(request: Request, subject: string, open: Open): Promise<Response> {
  try {
    const opened = await Promise.race([open(), Bun.sleep(BUILD_WAIT_MS)])
    if (opened) return opened.respond(request)
    return unavailable(`${subject} is being built. This page reloads itself.`, { refresh: '2' })
  } catch (error) {
    if (error instanceof NotBuilt) return unavailable(`${error.message} ${error.fix}`)
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
