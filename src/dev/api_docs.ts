/** Writes docs/api.md from the contracts: `bun src/dev/api_docs.ts`. A test fails while it is stale. */
import { join } from 'node:path'
import { version } from '../../package.json'
import { openApiDocument } from '../platform/openapi/document.ts'
import { allEndpoints } from './all_endpoints.ts'
import { apiMarkdown } from './api_markdown.ts'

export const API_DOCS = join(import.meta.dir, '../../docs/api.md')

export function renderApiDocs(): string {
  return apiMarkdown(openApiDocument(allEndpoints(), version))
}

if (import.meta.main) await Bun.write(API_DOCS, renderApiDocs())
