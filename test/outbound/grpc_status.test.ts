// tier: quick
/** The statuses that docs/guides/proxy.md promises to clients of gRPC. */
import { expect, test } from 'bun:test'
import { status } from '@grpc/grpc-js'
import type { FaultCode } from '../../src/core/fault.ts'
import { grpcRefusal, grpcStatusOf } from '../../src/outbound/grpc/status.ts'

test.each<[FaultCode, keyof typeof status]>([
  ['domain_blocked', 'PERMISSION_DENIED'],
  ['policy_blocked', 'PERMISSION_DENIED'],
  ['scope_required', 'PERMISSION_DENIED'],
  ['invalid_token', 'UNAUTHENTICATED'],
  ['invalid_header', 'INVALID_ARGUMENT'],
  ['invalid_target', 'INVALID_ARGUMENT'],
  ['unknown_secret', 'INVALID_ARGUMENT'],
  ['upstream_unreachable', 'UNAVAILABLE'],
  ['upstream_timeout', 'DEADLINE_EXCEEDED'],
  ['upstream_protocol_error', 'INTERNAL'],
  ['upstream_too_large', 'RESOURCE_EXHAUSTED'],
])('%s is %s', (code, name) => {
  expect(grpcStatusOf(code)).toBe(status[name])
})

test('an error has its code in the message and in a field', () => {
  expect(grpcRefusal({ code: 'domain_blocked', message: '100 % nö' })).toEqual({
    'grpc-status': String(status.PERMISSION_DENIED),
    'grpc-message': 'domain_blocked: 100 %25 n%C3%B6',
    'x-service-error': 'domain_blocked',
  })
})
