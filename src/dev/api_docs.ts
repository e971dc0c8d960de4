/** Writes docs/reference/api.md from the contracts: `bun src/dev/api_docs.ts`. A test fails while it is stale. */
import { join } from 'node:path'
import { version } from '../../package.json'
import { openApiDocument } from '../http/openapi/document.ts'
import { withoutReferences } from '../http/openapi/models.ts'
import { listAllEndpoints } from './all_endpoints.ts'
import { apiMarkdown } from './api_markdown.ts'

export const API_DOCS = join(import.meta.dir, '../../docs/reference/api.md')

/** The default addresses of an installation. */
const addresses = { 'control-plane': 'http://localhost:8000', resolver: 'http://localhost:8080' }

export function renderApiDocs(): string {
  return apiMarkdown(withoutReferences(openApiDocument(listAllEndpoints(), version, addresses)))
}

if (import.meta.main) await Bun.write(API_DOCS, renderApiDocs())
