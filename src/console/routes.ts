/** The console as the control plane serves it. */
import { z } from 'zod'
import { defineEndpoint } from '../platform/http/endpoint.ts'
import { type Route, rawRoute } from '../platform/http/route.ts'
import { openConsole } from './serve.ts'

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
      const { respond } = await openConsole()
      const response = respond(request)
      response.headers.set('x-request-id', requestId)
      return response
    }),
  ]
}
