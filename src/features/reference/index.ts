/** The documentation of the API: a page and its assets, all from this process. */
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { version } from '../../../package.json'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { commonHeaders } from '../../platform/http/reply.ts'
import { type RequestContext, type Route, rawRoute } from '../../platform/http/route.ts'
import { type Documented, openApiDocument } from '../../platform/openapi/document.ts'
import { getDocument, getPage, getScript, getStyle } from './contract.ts'
import { type Reference, renderReference } from './page.ts'

/** `surfaces` is called once, at the first request. */
export function referenceRoutes(surfaces: () => readonly Documented[]): Route[] {
  let rendered: Promise<Reference> | undefined
  const reference = () => {
    rendered ??= renderReference(openApiDocument(surfaces(), version))
    return rendered
  }
  return [
    rawRoute(getPage, async (context) => {
      const { page, contentSecurityPolicy } = await reference()
      const policy = { 'content-security-policy': contentSecurityPolicy }
      return send(context, getPage, page, policy)
    }),
    rawRoute(getDocument, async (context) =>
      send(context, getDocument, (await reference()).document),
    ),
    rawRoute(getScript, async (context) => send(context, getScript, Bun.file(scriptPath))),
    rawRoute(getStyle, async (context) => send(context, getStyle, Bun.file(stylePath))),
  ]
}

function send(
  { requestId }: RequestContext,
  { mediaType = 'application/json' }: Endpoint,
  content: string | Blob,
  headers: Record<string, string> = {},
): Response {
  return new Response(content, {
    headers: {
      ...commonHeaders(requestId),
      ...headers,
      'content-type': `${mediaType};charset=utf-8`,
    },
  })
}
