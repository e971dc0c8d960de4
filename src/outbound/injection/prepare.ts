/**
 * Steps 2 to 8 of protocol 6: the request of a call, decided in one step by known data. Nothing can change in between,
 * and no key can be erased. Unknown data is read, and the steps run again.
 */
import { decideWhenRead, Unread } from '../../core/async/unread.ts'
import type { BodyAccount } from '../../core/body_memory.ts'
import { Fault } from '../../core/fault.ts'
import { rangeIn, rangesAt } from '../answer/part.ts'
import { bytesOf, type Call, contentTypeOf } from '../call.ts'
import type { AddressLookup } from '../connection/address_lookup.ts'
import type { CallDeadline } from '../deadline.ts'
import { findEscaped } from '../escaped_placeholders.ts'
import { checkCallerHeaders, type HeaderPair } from '../headers.ts'
import { OutboundRequest, type RequestSigner } from '../outbound_request.ts'
import { buildSignedWithHeldFault, requireApproval, usesHeld } from '../policy/approval.ts'
import {
  type CallPermission,
  domainBlocked,
  formEncodedAmong,
  namesOf,
  openSecrets,
  proveRoots,
  selectSecrets,
  settingsAmong,
  type UsableSecret,
} from '../policy/permission.ts'
import { type AskedRequest, checkNotComputed, checkPolicies } from '../policy/policy.ts'
import type { CallRecord } from '../record.ts'
import { awsSignature } from '../signing/aws_resign.ts'
import { azureSignature } from '../signing/azure_resign.ts'
import type { Signature } from '../signing/client_signature.ts'
import { googleSignature } from '../signing/google_resign.ts'
import { rangesOf, usesOf } from '../signing/sign.ts'
import { parseTarget, type Target } from '../target.ts'
import { parseAsked } from './asked.ts'
import { checkBytes, checkCounts } from './budget.ts'
import {
  fillLocations,
  findLocations,
  type Locations,
  mayHaveLocations,
  NO_LOCATIONS,
  NOTHING_PLACEABLE,
} from './locations.ts'
import { findPlaceholders, injectPlaceholders, type Placeholder } from './placeholders.ts'
import { refuseUnfilled, unfilledOf } from './unfilled.ts'

/** The services of a process that the steps need. */
type Surroundings = RequestSigner & { addresses: AddressLookup }

export type Job = {
  call: Call
  deadline: CallDeadline
  record: CallRecord
  /** Looked up at most once per call, even if the decision is repeated. */
  address: string | Promise<string> | null
  /** Counts a body that has to be read whole. */
  bodies?: BodyAccount
}

/** A refusal is also a result, and is recorded like a request. */
export type Decision = OutboundRequest | Fault

/** Decides, without a wait if everything is known. */
export function decide(
  outbound: Surroundings,
  job: Job,
  permission: CallPermission,
): Decision | Promise<Decision> {
  return decideWhenPrepared(() => prepare(outbound, job, permission))
}

/** Returns the result of `take`, or the refusal that it throws. Calls it again after missing data was read. */
export function decideWhenPrepared<T>(take: () => T): T | Fault | Promise<T | Fault> {
  try {
    return take()
  } catch (error) {
    if (!(error instanceof Unread)) return refusalIn(error)
    return error.read.then(() => decideWhenRead(take)).catch(refusalIn)
  }
}

function refusalIn(error: unknown): Fault {
  if (error instanceof Fault) return error
  throw error
}

/** Records the secrets of a call to a blocked host, so that a person can review it. */
function recordNames({ call, record }: Job, target: Target, permission: CallPermission): void {
  try {
    record.asks(permission.scope(), listDemanded(call, signatureIn(call, target)))
  } catch (error) {
    // An invalid call is also refused for its host.
    if (!(error instanceof Fault)) throw error
  }
}

/** @throws Unread, and Fault of the step that refuses */
function prepare(outbound: Surroundings, job: Job, permission: CallPermission): OutboundRequest {
  const { call, record } = job
  // Step 2: the target.
  const target = parseTarget(call.targetUrl)
  const asked = parseAsked(call, target)
  record.sees(asked)
  // Step 3: the allowlist; an empty one blocks all.
  if (!permission.allows(target)) {
    recordNames(job, target, permission)
    throw domainBlocked(target)
  }
  // Step 4: the placeholders, in headers and in the signature's inputs.
  const signature = signatureIn(call, target)
  const demanded = listDemanded(call, signature)
  // Step 5: the scope, and the secrets with these names in it.
  const scope = permission.scope()
  record.asks(scope, demanded)
  checkCounts(demanded)
  const isTaken = signature?.place === 'body'
  const locations = locationsIn(isTaken ? { ...call, body: null } : call, target, permission)
  checkTexts(job, locations, permission)
  const placeholders = [...demanded, ...locations.found]
  if (placeholders.length > demanded.length) {
    record.asks(scope, placeholders)
    checkCounts(placeholders)
  }
  const wanted = namesOf(placeholders)
  const used = selectSecrets(wanted, permission.secrets(wanted), {
    holder: permission.holder,
    environment: scope.environment,
  })
  record.finds(used.values())
  // Opening proves the policy, which the ciphertext binds: only then is the policy trusted.
  judgeUnopened(outbound, job, permission, { used, placeholders, asked, signature })
  const values = openSecrets(used)
  const guard = permission.guard()
  // Step 6: the policy of each secret.
  checkPolicies(used, placeholders, asked)
  // Step 7: the caller's headers, and the values among them and elsewhere.
  const ranges = signature?.ranges ?? [...rangesOf(call.signing), ...rangesAt(target.host)]
  const range = rangeIn(call, ranges)
  const headers = checkCallerHeaders(call.headers, range, call.method)
  checkBytes(placeholders, values)
  const sent = headers.filter(isNotSigned(signature))
  const injection = injectPlaceholders(sent, values, formEncodedAmong(used))
  const filled = fillLocations(target, locations, values)
  const { path, search } = filled.reveal()
  checkNotComputed(call.method, search)
  // The URL as sent: one that contains a value is judged with that value.
  if (path !== target.path || search !== target.search) {
    checkPolicies(used, placeholders, parseAsked(call, { ...target, path, search }))
  }
  // Step 8: the one address to connect to.
  const address = addressOf(outbound, job, target)
  const settings = settingsAmong(used)
  const part = range?.part ?? null
  const isObject = call.method === 'GET' && ranges.length > 0
  const found = { target, address, injection, filled, values, signature, guard, settings }
  const takesMessages = call.answer === 'socket' && !call.from
  const isPlaceable = takesMessages ? permission.placeable() : NOTHING_PLACEABLE
  const parts = { ...found, part, isObject, allowsRanges: ranges.length > 0, isPlaceable }
  permission.remember(injection.reveal().obtained)
  return new OutboundRequest(outbound, call, parts)
}

type Judged = {
  used: ReadonlyMap<string, UsableSecret>
  placeholders: readonly Placeholder[]
  asked: AskedRequest
  signature: Signature | null
}

/** Checks before decryption: a refused call derives nothing from roots, and requests no approval. */
function judgeUnopened(
  outbound: Surroundings,
  job: Job,
  permission: CallPermission,
  { used, placeholders, asked, signature }: Judged,
): void {
  const isHeld = usesHeld(used)
  if (!proveRoots(used) && !isHeld) return
  checkPolicies(used, placeholders, asked)
  addressOf(outbound, job, asked.target)
  if (!isHeld) return
  const { call } = job
  if (call.signing !== null || signature !== null) throw buildSignedWithHeldFault()
  checkCallerHeaders(call.headers, rangeIn(call, rangesAt(asked.target.host)), call.method)
  requireApproval(job, permission, { asked, secrets: used })
}

/** Records texts that stay unfilled, or refuses them. @throws Fault `placeholder_not_allowed` */
function checkTexts({ call, record }: Job, { texts }: Locations, permission: CallPermission): void {
  const unfilled = unfilledOf(texts, permission)
  record.leaves(unfilled.map(({ name, place }) => ({ name, place })))
  if (call.isStrict) refuseUnfilled(unfilled)
}

/** Reads placeable secrets only for calls with placeholders outside of headers, which are rare. */
function locationsIn(call: Call, target: Target, permission: CallPermission): Locations {
  const { body, headers, from, isStrict = false } = call
  if (from) return NO_LOCATIONS
  const bytes = bytesOf(body)
  const type = contentTypeOf(headers)
  const escaped = findEscaped(target, bytes, { contentType: type, isStrict })
  const locations = mayHaveLocations(target, bytes)
    ? findLocations(target, bytes, type, permission.placeable())
    : NO_LOCATIONS
  return escaped.length === 0
    ? locations
    : { ...locations, texts: [...locations.texts, ...escaped] }
}

/** @throws Unread, and the faults of the look-up */
function addressOf({ addresses }: Surroundings, job: Job, { host, port }: Target): string {
  job.address ??= addresses.find(host, port, job.deadline.signal)
  if (typeof job.address === 'string') return job.address
  throw new Unread(
    job.address.then((address) => {
      job.address = address
    }),
  )
}

/** Returns the required placeholders: those in headers, and the inputs of a signature. */
function listDemanded({ headers, signing }: Call, signature: Signature | null): Placeholder[] {
  const found = findPlaceholders(Object.entries(headers).filter(isNotSigned(signature)))
  return [...found, ...(signature?.uses ?? (signing ? usesOf(signing) : []))]
}

/** The header of a signature that is made again is part of that signature. */
function isNotSigned(signature: Signature | null): (header: Readonly<HeaderPair>) => boolean {
  return ([name]) => signature?.place !== 'header' || name.toLowerCase() !== 'authorization'
}

/**
 * A request that a client signed with a stand-in or a placeholder is signed again with the real key (protocol
 * 6.5). The placeholder in place of the signature identifies such a request.
 *
 * @returns `null` also for a host that another host's link led to
 * @throws Fault `invalid_header`, `invalid_target`, `validation_error` if it cannot be signed again
 */
function signatureIn(call: Call, target: Target): Signature | null {
  if (call.from) return null
  return awsSignature(call, target) ?? googleSignature(call, target) ?? azureSignature(call, target)
}
