/**
 * The local backend: the member's session reads the sealed secrets, and values are opened in this process, for one
 * request each. The steps are those of outbound/execute.ts, with the permissions of the member's vault. The server
 * never sees a value, and learns of the request from its audit record.
 */

import type { Timers } from '../../core/async/timers.ts'
import type { BodyAccount, BodyMemory } from '../../core/body_memory.ts'
import { Fault } from '../../core/fault.ts'
import { STRICT_HEADER } from '../../core/policy/unfilled.ts'
import type { Call } from '../../outbound/call.ts'
import { CallDeadline } from '../../outbound/deadline.ts'
import { execute, type Outbound, type Principal } from '../../outbound/execute.ts'
import { isGrpcCall } from '../../outbound/grpc/frames.ts'
import { headersPassedOn, isHandshake } from '../../outbound/headers.ts'
import { proxyLinks } from '../../outbound/links.ts'
import { basisOf } from '../../outbound/policy/judge_again.ts'
import { CallRecord } from '../../outbound/record.ts'
import { needsWholeBody } from '../../outbound/signing/aws_signature.ts'
import { mayHoldAssertion } from '../../outbound/signing/google_assertion.ts'
import { parseTarget } from '../../outbound/target.ts'
import type { Backend, Inbound } from '../backend.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { auditRecordOf, type RecordOrigin, recordFault } from '../record.ts'
import { bodyOf, checkMethod, isDeclaredShort } from '../request.ts'
import { PROXY_OWNER } from '../settings.ts'
import { withAdvice } from './advice.ts'
import type { LocalLiveCalls } from './live_calls.ts'
import { permissionOf } from './permission.ts'
import type { VaultCache, VaultSnapshot } from './vault_snapshot.ts'

export type LocalServices = {
  vault: Pick<VaultCache, 'current'>
  projectId: string
  environment: string
  outbox: Pick<Outbox, 'begin' | 'add'>
  outbound: Outbound
  /** Open calls, for as long as they last. */
  liveCalls: Pick<LocalLiveCalls, 'hold'>
  bodies: BodyMemory
  /** Milliseconds between two signs of life of the upstream. */
  timeoutMs: number
  timers?: Timers
  close(): Promise<void>
}

/** A single member, with a session instead of a token. */
const MEMBER = { workspaceId: 'local', tokenId: 'local' }

type Work = {
  record: CallRecord
  origin: RecordOrigin
  deadline: CallDeadline
  bodies: BodyAccount
}

export function createLocalBackend(services: LocalServices): Backend {
  // The hosts as last read: if nothing may be sent any more, calls are refused instead of passing unchanged.
  let allows: VaultSnapshot['allows'] = () => false
  const readCurrent = async () => {
    const snapshot = await services.vault.current()
    allows = snapshot.allows
    return snapshot
  }
  return {
    covers: async (host, port) => {
      await readCurrent().catch(() => {})
      return allows(host, port)
    },
    credentials: async () => (await readCurrent()).credentials(),
    execute: (inbound) => executeLocally(services, inbound),
    refused: async ({ host, port, method }) => {
      const { record, origin } = beginRecord(services, Bun.randomUUIDv7(), host, method)
      const target = parseTarget(`https://${host}:${port}/`)
      record.sees({ target, method, override: null, isMultipart: false, operations: [] })
      const refusal = record.refusal(new Fault('domain_blocked'))
      await services.outbox.add(auditRecordOf(record, origin, refusal))
    },
    bodies: services.bodies,
    close: services.close,
  }
}

async function executeLocally(services: LocalServices, inbound: Inbound): Promise<Response | null> {
  const { request, requestId, authority } = inbound
  const deadline = new CallDeadline(services.timeoutMs, services.timers)
  deadline.endWith(request.signal)
  const host = authority.replace(/:\d+$/, '')
  const bodies = services.bodies.open(PROXY_OWNER)
  deadline.afterwards(() => bodies.release())
  const work = { ...beginRecord(services, requestId, host, request.method), deadline, bodies }
  return deadline.runDuring(async () => {
    const vault = services.vault.current()
    // A vault that cannot be read is for step 3 to complain about.
    const scansBodies = await vault.then((snapshot) => snapshot.scansBodies).catch(() => false)
    const { record } = work
    // Step 1, of which the resolver keeps no record either.
    const call = await readCall(inbound, scansBodies, bodies)
    // Steps 2 to 12.
    const principal = principalOf(services, work, vault, inbound)
    return execute(services.outbound, principal, { call, deadline, record }).catch((error) => {
      throw withAdvice(error, { host, timeoutMs: services.timeoutMs })
    })
  })
}

function beginRecord(
  { projectId, environment }: LocalServices,
  id: string,
  host: string,
  method: string,
): Pick<Work, 'record' | 'origin'> {
  return {
    record: new CallRecord({ id, projectId, environment }),
    origin: { host, method, projectId, environment },
  }
}

/** @throws Fault of `checkMethod` and `bodyOf`, and `invalid_header` for half a handshake */
async function readCall(
  { request, authority, pathAndQuery, linkBase, from = null, mark }: Inbound,
  scansBodies: boolean,
  bodies: BodyAccount,
): Promise<Call> {
  const method = checkMethod(request)
  const headers = Object.fromEntries(headersPassedOn(request.headers))
  const search = pathAndQuery.replace(/^[^?]*/, '')
  const isSigned = needsWholeBody(headers, search) || mayHoldAssertion(request)
  const isCall = isGrpcCall(request)
  const isStrict = request.headers.get(STRICT_HEADER) === 'true'
  return {
    targetUrl: `https://${authority}${pathAndQuery}`,
    method,
    headers,
    body: await bodyOf(request, headers, {
      isScanned: !isCall && (scansBodies || isDeclaredShort(request)),
      // A strict call is refused before anything is sent.
      isNeeded: isSigned || (isStrict && !isCall),
      bodies,
    }),
    answer: isHandshake(request) ? 'socket' : isCall ? 'grpc' : 'streamed',
    signing: null,
    linkBase: linkBase === null ? null : proxyLinks(linkBase, from),
    from,
    mark: mark ?? null,
    isStrict,
  }
}

function principalOf(
  services: LocalServices,
  work: Work,
  vault: Promise<VaultSnapshot>,
  connection: Inbound,
): Principal {
  const { outbox, liveCalls } = services
  const withRecord = (of: CallRecord) =>
    principalOf(services, { ...work, record: of }, services.vault.current(), connection)
  const { record, origin, deadline } = work
  let begun: Awaited<ReturnType<Outbox['begin']>> | null = null
  return {
    decide: async (attempt) => {
      const permission = permissionOf(services, vault)
      const decided = await Promise.try(attempt, permission).catch(recordFault)
      if (decided instanceof Fault) return refuse(services, work, decided)
      // Step 9: durable before the credential leaves.
      try {
        begun = await outbox.begin(auditRecordOf(record, origin, null))
      } catch (cause) {
        throw new Fault('audit_unavailable', { cause })
      }
      const basis = basisOf(record)
      const end = (fault: Fault) => deadline.refuse(fault)
      if (basis) deadline.afterwards(liveCalls.hold(basis, end))
      return decided
    },
    withRecord,
    owner: MEMBER,
    headers: {},
    // An outcome that does not reach the disk leaves the record without one.
    conclude: (conclusion) => {
      void begun?.end(auditRecordOf(record, origin, conclusion)).catch(() => {})
    },
    faultOf: recordFault,
    connection,
    bodies: work.bodies,
  }
}

/** Records the refusal. @throws Fault of the refusal */
async function refuse(
  { outbox }: LocalServices,
  { record, origin, deadline }: Work,
  error: unknown,
): Promise<never> {
  const fault = recordFault(error)
  const refusal = record.refusal(fault, deadline.isUnwanted)
  // A disk that is full does not make a refusal anything else.
  await outbox.add(auditRecordOf(record, origin, refusal)).catch(() => {})
  throw fault
}
