/** Refusals where a program speaks to an API through us, in the format of that API. */
import { type Fault, type FaultCode, formatInWords } from '../core/fault.ts'
import { adviceOf } from './advice.ts'
import { presentFault } from './reply.ts'

/** Codes for which the same request may succeed a little later. */
const TRANSIENT: readonly FaultCode[] = [
  'rate_limited',
  'unavailable',
  'audit_unavailable',
  'upstream_unreachable',
  'upstream_timeout',
]

/** As APIs write errors: most, Amazon S3, Azure storage, its tables, and endpoints for tokens. */
export type RefusalFormat = 'json' | 'xml' | 'azure' | 'odata' | 'oauth'

/** The response for forward mode: SDKs expect the error and the retry hint where their API puts them. */
export function presentForwardFault(
  fault: Fault,
  requestId: string,
  format: RefusalFormat,
): Response {
  const { code, status } = fault
  const { headers } = presentFault(fault, 'resolver', requestId)
  const message = formatInWords(fault.message, fault.fields)
  // Clients such as git send Basic credentials only after a challenge.
  if (status === 401) headers.append('www-authenticate', 'Basic realm="cloakroom"')
  if (!TRANSIENT.includes(code)) headers.set('x-should-retry', 'false')
  if (format === 'azure' || format === 'odata') headers.set('x-ms-error-code', code)
  if (format === 'xml' || format === 'azure') {
    headers.set('content-type', 'application/xml')
    return new Response(errorXml(code, withFix(message, fault), requestId), { status, headers })
  }
  headers.delete('content-type')
  return Response.json(
    {
      ...forwardFailure(code, status, message),
      ...adviceOf(fault),
      ...inFormat[format](code, message),
    },
    { status, headers },
  )
}

/** XML has no member for the fix, so the message names it, unless it does so already. */
function withFix(message: string, fault: Fault): string {
  const { fix } = adviceOf(fault)
  if (!fix) return message
  const named = 'command' in fix ? fix.command.join(' ') : fix.setting
  if (message.includes(named)) return message
  return 'command' in fix ? `${message} Run \`${named}\`.` : `${message} Server setting: ${named}.`
}

/** The replacement of the usual error. */
const inFormat: Record<'json' | 'odata' | 'oauth', (code: FaultCode, message: string) => object> = {
  json: () => ({}),
  odata: (code, value) => ({ 'odata.error': { code, message: { lang: 'en-US', value } } }),
  // RFC 6749, section 5.2.
  oauth: (error, error_description) => ({ error, error_description }),
}

/** The body of a refusal of forward mode. */
export function forwardFailure(code: FaultCode, status: number, message: string) {
  return { error_code: code, message, error: { type: errorTypeOf(status), code, message } }
}

/** As in the REST API of Amazon S3, "Error responses", and that of Azure storage. Codes and messages are ours. */
function errorXml(code: FaultCode, message: string, requestId: string): string {
  const escaped = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>${code}</Code><Message>${escaped}</Message><RequestId>${requestId}</RequestId></Error>
`
}

/** In the words that the APIs of today agree on. */
function errorTypeOf(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'api_error'
}
