/** Chooses a refusal's format: that of the API, which the signature identifies, for any key. */
import type { RefusalFormat } from '../../http/forward_refusal.ts'
import { isSignedForStorage } from './aws_signature.ts'
import { isTable } from './azure_text.ts'
import { isForm } from './google_assertion.ts'

/** @param url with the host, path and query, after any prefix */
export function refusalFormatOf(headers: Headers, url: string): RefusalFormat {
  const all = [...headers]
  if (isSignedForStorage(Object.fromEntries(all), url)) return 'xml'
  const isAzure =
    /^SharedKey/.test(headers.get('authorization') ?? '') ||
    (/[?&]sig=/.test(url) && /[?&]sv=\d{4}-/.test(url))
  if (isAzure) return isTable({ authority: url, headers: all }) ? 'odata' : 'azure'
  return /\/token(\?|$)/.test(url) && isForm(headers.get('content-type')) ? 'oauth' : 'json'
}
