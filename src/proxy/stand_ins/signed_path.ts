/**
 * The runtime resolves `.` and `..` in a path before anybody sees it, and to S3 these are parts of a name: a
 * request for one object would be signed again for another. What its client signed with the stand-in shows it.
 */

import { Fault } from '../../core/fault.ts'
import { Secret } from '../../core/secret.ts'
import { isSignedSo } from '../../outbound/signing/aws_resign.ts'
import { awsSignatureIn } from '../../outbound/signing/aws_signature.ts'
import { isStorage } from '../../outbound/signing/aws_sigv4.ts'
import type { Inbound } from '../backend.ts'
import type { StandIns } from './stand_ins.ts'

type Sent = Pick<Inbound, 'pathAndQuery'> & { headers: Headers }

/**
 * @param sent as the program wrote it; `replaced` has placeholders
 * @throws Fault `invalid_target` for a path that came otherwise than it was signed
 */
export function checkSignedPath(inbound: Inbound, sent: Sent, replaced: Sent, all: StandIns): void {
  const signature = awsSignatureIn(Object.fromEntries(replaced.headers), searchOf(replaced))
  // With a base URL the program signs for another host and path.
  if (!signature || !isStorage(signature.service) || inbound.linkBase !== null) return
  const names = [signature.id, signature.key, ...(signature.token ? [signature.token] : [])]
  const known = names.flatMap((name) => all.of(name) ?? [])
  if (known.length < names.length) return
  const values = new Map(known.map(({ name, text }) => [name, new Secret(Buffer.from(text))]))
  const search = searchOf(sent)
  const path = sent.pathAndQuery.slice(0, sent.pathAndQuery.length - search.length)
  const headers = [...sent.headers].filter(([name]) => name !== 'host')
  const { method } = inbound.request
  // Its hash is what the client says.
  const body = { stream: new ReadableStream<Uint8Array>(), length: null }
  const request = { method, authority: inbound.authority, path, search, headers, body }
  if (isSignedSo(signature, request, values)) return
  throw new Fault('invalid_target', {
    message:
      'The request is not the one that was signed: names of objects with . or .. as a segment cannot be sent.',
  })
}

function searchOf({ pathAndQuery }: Pick<Sent, 'pathAndQuery'>): string {
  return pathAndQuery.replace(/^[^?]*/, '')
}
