/** Refusals in the form of gRPC: HTTP 200, and its own status among the trailers. */
import { type FaultCode, statusOf } from '../../core/fault.ts'

const UNKNOWN = 2
const INVALID_ARGUMENT = 3
const DEADLINE_EXCEEDED = 4
const NOT_FOUND = 5
const PERMISSION_DENIED = 7
const RESOURCE_EXHAUSTED = 8
const UNIMPLEMENTED = 12
const INTERNAL = 13
const UNAVAILABLE = 14
const UNAUTHENTICATED = 16

const byCode: Partial<Record<FaultCode, number>> = {
  not_found: NOT_FOUND,
  payload_too_large: RESOURCE_EXHAUSTED,
  upstream_too_large: RESOURCE_EXHAUSTED,
  upstream_protocol_error: INTERNAL,
}
const byStatus: Record<number, number> = {
  401: UNAUTHENTICATED,
  403: PERMISSION_DENIED,
  429: RESOURCE_EXHAUSTED,
  500: INTERNAL,
  502: UNAVAILABLE,
  503: UNAVAILABLE,
  504: DEADLINE_EXCEEDED,
}

/** Returns the status on which gRPC clients act, for example whether they retry. */
export function grpcStatusOf(code: FaultCode): number {
  return byCode[code] ?? byStatus[statusOf(code)] ?? INVALID_ARGUMENT
}

/** Returns the status for an answer without one ("HTTP to gRPC Status Code Mapping"). */
export function grpcStatusOfHttp(status: number): number {
  const mapped: Record<number, number> = {
    400: INTERNAL,
    401: UNAUTHENTICATED,
    403: PERMISSION_DENIED,
    404: UNIMPLEMENTED,
    429: UNAVAILABLE,
    502: UNAVAILABLE,
    503: UNAVAILABLE,
    504: UNAVAILABLE,
  }
  return mapped[status] ?? UNKNOWN
}

type Refusal = { code: FaultCode; message: string }

/** The trailers of a refusal; with the header that every refusal has. */
export function grpcRefusal({ code, message }: Refusal): Record<string, string> {
  return {
    'grpc-status': String(grpcStatusOf(code)),
    'grpc-message': percentEncoded(`${code}: ${message}`),
    'x-service-error': code,
  }
}

/** gRPC over HTTP/2, "Status-Message": printable ASCII stays, but for the percent sign. */
export function percentEncoded(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')
}
