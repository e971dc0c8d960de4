/** The documentation of the API: a page and its assets, all from this process. */
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import scriptPath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import { version } from '../../../package.json'
import { addressesOf } from '../../core/config/addresses.ts'
import type { Config } from '../../core/config/config.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { type Addresses, type Documented, openApiDocument } from '../../http/openapi/document.ts'
import type { Surface } from '../../http/reply.ts'
import { buildCommonHeaders } from '../../http/reply.ts'
import { createRawRoute, type RequestContext, type Route } from '../../http/route.ts'
import { getDocument, getOwnDocument, getPage, getScript, getStyle } from './contract.ts'
import { type ReferencePage, renderReference } from './page.ts'

/** The routes for one listener. `surfaces` is called once, at the first request. */
export function referenceRoutes(
  listener: Surface,
  config: Config,
  surfaces: () => readonly Documented[],
): Route[] {
  let rendered: Promise<ReferencePage> | undefined
  const reference = () => {
    rendered ??= render(listener, config, surfaces())
    return rendered
  }
  return [
    createRawRoute(getPage, async (context) => {
      const { page, contentSecurityPolicy } = await reference()
      const policy = { 'content-security-policy': contentSecurityPolicy }
      return send(context, getPage, page, policy)
    }),
    createRawRoute(getDocument, async (context) =>
      send(context, getDocument, (await reference()).document),
    ),
    createRawRoute(getOwnDocument, async (context) =>
      send(context, getOwnDocument, (await reference()).ownDocument),
    ),
    createRawRoute(getScript, async (context) => send(context, getScript, Bun.file(scriptPath))),
    createRawRoute(getStyle, async (context) => send(context, getStyle, Bun.file(stylePath))),
  ]
}

async function render(
  listener: Surface,
  config: Config,
  surfaces: readonly Documented[],
): Promise<ReferencePage> {
  const { server, resolver } = addressesOf(config)
  const addresses: Addresses = { 'control-plane': server, resolver }
  const own = surfaces.filter(({ surface }) => surface === listener)
  return renderReference({
    document: openApiDocument(surfaces, version, addresses),
    ownDocument: openApiDocument(own, version, { ...addresses, [listener]: '/' }),
  })
}

function send(
  { requestId }: RequestContext,
  { mediaType = 'application/json' }: Endpoint,
  content: string | Blob,
  headers: Record<string, string> = {},
): Response {
  return new Response(content, {
    headers: {
      ...buildCommonHeaders(requestId),
      ...headers,
      'content-type': `${mediaType};charset=utf-8`,
    },
  })
}
