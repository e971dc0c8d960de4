/**
 * The page and the document, from @elysiajs/swagger. The plugin runs in a separate application
 * that never listens: the request pipeline asks it, so that the host check and the headers of every
 * other route hold here too. Its page loads scripts from a CDN; ours come from this executable, and a
 * Content-Security-Policy lets no other script run and nothing be sent elsewhere.
 */
import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import type { OpenApiDocument } from '../../http/openapi/document.ts'

type Documentation = NonNullable<NonNullable<Parameters<typeof swagger>[0]>['documentation']>

const PAGE = '/api/docs'
const DOCUMENT = `${PAGE}/own.json`

export type ReferencePage = {
  page: string
  document: string
  ownDocument: string
  contentSecurityPolicy: string
}

type Documents = Record<'document' | 'ownDocument', OpenApiDocument>

/** With a validator the page would send the document's address to one on the internet. */
const options = { url: DOCUMENT, validatorUrl: 'none', deepLinking: true }

/** Renders both once. */
export async function renderReference({
  document,
  ownDocument,
}: Documents): Promise<ReferencePage> {
  const plugin = swagger({
    provider: 'swagger-ui',
    path: PAGE,
    specPath: DOCUMENT,
    theme: `${PAGE}/swagger-ui.css`,
    autoDarkMode: false,
    // The plugin's types know OpenAPI 3.0 only; it passes on what it is given.
    documentation: ownDocument as unknown as Documentation,
    swaggerOptions: options,
  })
  const application = new Elysia().use(plugin)
  const ask = async (path: string) =>
    (await application.handle(new Request(`http://localhost${path}`))).text()
  const page = withOwnScript(await ask(PAGE))
  return {
    page,
    document: JSON.stringify(document),
    ownDocument: await ask(DOCUMENT),
    contentSecurityPolicy: policyFor(page),
  }
}

/** The plugin has no option for where the script comes from. */
function withOwnScript(page: string): string {
  return page.replace(
    /<script src="https:[^"]*\/swagger-ui-bundle\.js" crossorigin>/,
    `<script src="${PAGE}/swagger-ui.js">`,
  )
}

/** Inline scripts need a matching hash, so scripts injected into a description do not run. */
function policyFor(page: string): string {
  const inline = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => {
    const hash = new Bun.CryptoHasher('sha256').update(text).digest('base64')
    return `'sha256-${hash}'`
  })
  return [
    "default-src 'none'",
    `script-src 'self' ${inline.join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
