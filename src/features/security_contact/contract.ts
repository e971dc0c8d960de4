/** Where people report holes of this installation (RFC 9116). */
import { defineEndpoint } from '../../http/endpoint.ts'

export const getSecurityContact = defineEndpoint({
  name: 'security.contact',
  summary: 'Read whom to report a hole to',
  method: 'GET',
  path: '/.well-known/security.txt',
  access: { kind: 'public' },
  mediaType: 'text/plain',
})
