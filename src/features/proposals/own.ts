/**
 * Proposals of a token. Members read the agent's text, so it must not contain a token, or a value that the token's
 * calls could use.
 */
import canonicalize from 'canonicalize'
import { admitToken } from '../../access/admission.ts'
import { decideDurably, orRefusal } from '../../access/decide.ts'
import { entryOf } from '../../access/entry.ts'
import type { Access } from '../../access/index.ts'
import { coversHost, coversSecret } from '../../access/narrowed.ts'
import { repeatsSecret } from '../../access/repeats_secret.ts'
import { requireGrantedNow } from '../../access/snapshots/snapshot_now.ts'
import type { Snapshot } from '../../access/snapshots/snapshots.ts'
import type { LiveToken } from '../../access/tokens.ts'
import { decideWhenRead } from '../../core/async/unread.ts'
import { sha256 } from '../../core/crypto/primitives.ts'
import { Fault, type FieldFault } from '../../core/fault.ts'
import { domainMatches, parseDomain } from '../../core/net/domain.ts'
import { parsePart } from '../../core/validation/validate.ts'
import { rateHeaders } from '../../database/limits/rate.ts'
import type { Database } from '../../database/open.ts'
import type { InputOf } from '../../http/endpoint.ts'
import { buildCommonHeaders, present } from '../../http/reply.ts'
import { readBody } from '../../http/request_body.ts'
import { createRawRoute, type RequestContext, type Route } from '../../http/route.ts'
import { bearerText } from '../../identity/authenticate.ts'
import type { Notice } from '../../notices/notice.ts'
import type { Notices } from '../../notices/notices.ts'
import { CallRecord } from '../../outbound/record.ts'
import { createProposal, getOwnProposal } from './contract.ts'
import { insertProposal, type NewProposal, selectOwnProposal } from './queries.ts'

type Sent = InputOf<typeof createProposal, 'body'>

type Parts = {
  access: Access
  db: Database
  /** Whether a text holds a value that the token's calls could use. */
  holdsValue(token: LiveToken, text: string): Promise<boolean>
  notices: Notices
}

/** On the resolver's listener. */
export function ownProposalRoutes(parts: Parts): Route[] {
  return [
    createRawRoute(createProposal, (context) => propose(parts, context)),
    createRawRoute(getOwnProposal, (context) => showOwn(parts, context)),
  ]
}

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required`, `validation_error`, `audit_unavailable` */
async function propose(parts: Parts, context: RequestContext): Promise<Response> {
  const { access, db } = parts
  const { request, requestId } = context
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, createProposal, { text, requestId })
  const sent = await readSent(parts, context, token)
  const proposal = proposalOf(token, sent)
  const headers = { ...buildCommonHeaders(requestId), ...rateHeaders(rate) }
  const unclean = await uncleanIn(parts, token, sent)
  const known = unclean ? null : await selectOwnProposal(db, proposal, proposal)
  if (known && known.status !== 'expired') {
    await requireLive(access, token)
    return present(createProposal, known, headers)
  }
  const { list } = await access.readCredentials(token.id)
  const names = new Set(list.map(({ name }) => name).filter((name) => coversSecret(token, name)))
  await recordProposal(access, token, requestId, (snapshot) => {
    if (unclean) throw unclean
    requireNew(snapshot, token, { names, sent })
  })
  const stored = await insertProposal(db, proposal)
  await parts.notices.announce(token.workspaceId, buildCreatedNotice(stored, proposal))
  return present(createProposal, stored, headers)
}

function buildCreatedNotice(
  { id, expires_at }: { id: string; expires_at: Date },
  { workspaceId, agent, hosts, secrets }: NewProposal,
): Notice {
  const event = 'proposal.created'
  const fields = {
    agent,
    host: hosts.join(', ') || undefined,
    secrets: secrets.map(({ key }) => key),
    page: `/console/w/${workspaceId}/live`,
    command: `cloakroom proposals show ${id}`,
    expires_at: expires_at.toISOString(),
  }
  // A proposal that expired may be made again.
  return { event, cause: `${event}/${id}/${expires_at.toISOString()}`, fields }
}

/** A body is only complained about to a token that is live at this moment. */
async function readSent(
  { access }: Parts,
  { request, countBodies, expectBytes }: RequestContext,
  token: LiveToken,
): Promise<Sent> {
  const { body: schema, bodyLimit: limit } = createProposal
  try {
    expectBytes(limit)
    const account = countBodies(token.workspaceId)
    const sent = await readBody(request, schema, { limit, account })
    return sent
  } catch (error) {
    await access.tokens.confirm(token)
    throw error
  }
}

/** On record like other refusals, so that a value cannot be guessed unseen. */
async function uncleanIn(
  { holdsValue }: Parts,
  token: LiveToken,
  sent: Sent,
): Promise<Fault | null> {
  for (const { path, text } of textsOf(sent)) {
    if (TOKEN.test(text) || repeatsSecret(text, token.secretText()))
      return buildHeldFault(path, 'must not contain a token')
    if (await holdsValue(token, text))
      return buildHeldFault(path, "must not contain a secret's value")
  }
  return null
}

/** A token of any kind, also an incomplete one. */
const TOKEN = /svc_(?:agt|wkl|sea|ses|ref)_[0-9A-Za-z]{16}/

function textsOf({ reason, hosts, secrets }: Sent): { path: string; text: string }[] {
  return [
    { path: 'reason', text: reason },
    ...hosts.map((text, at) => ({ path: `hosts.${at}`, text })),
    ...secrets.flatMap(({ key, description }, at) => [
      { path: `secrets.${at}.key`, text: key },
      { path: `secrets.${at}.description`, text: description ?? '' },
    ]),
  ]
}

function buildHeldFault(path: string, message: string): Fault {
  return new Fault('validation_error', { fields: [{ path, message }] })
}

function proposalOf(
  token: LiveToken,
  { reason, hosts: sentHosts, secrets: sent }: Sent,
): NewProposal {
  const hosts = [...new Set(sentHosts)].sort()
  const described = new Map(sent.map(({ key, description }) => [key, description ?? null]))
  const secrets = [...described].map(([key, description]) => ({ key, description }))
  secrets.sort((one, other) => (one.key < other.key ? -1 : 1))
  const content = canonicalize({ hosts, secrets: secrets.map(({ key }) => key) }) ?? ''
  const { workspaceId, id: tokenId, registrationId, name: agent } = token
  return {
    ...{ workspaceId, tokenId, registrationId, agent, reason, hosts, secrets },
    contentHash: sha256(content),
  }
}

/** @throws Fault `validation_error` for hosts and secrets that already exist */
function requireNew(
  { allowlist }: Snapshot,
  token: LiveToken,
  { names, sent }: { names: ReadonlySet<string>; sent: Sent },
): void {
  const isAllowed = (text: string) => {
    const host = parseDomain(text)
    if (host === null || !coversHost(token, host.host, host.port)) return false
    return allowlist.some((domain) => domainMatches(domain, host.host, host.port))
  }
  const fields: FieldFault[] = [
    ...sent.hosts.flatMap((host, at) =>
      isAllowed(host) ? [{ path: `hosts.${at}`, message: 'is an allowed host already' }] : [],
    ),
    ...sent.secrets.flatMap(({ key }, at) =>
      names.has(key) ? [{ path: `secrets.${at}.key`, message: 'exists already' }] : [],
    ),
  ]
  if (fields.length > 0) throw new Fault('validation_error', { fields })
}

async function recordProposal(
  access: Access,
  token: LiveToken,
  requestId: string,
  check: (snapshot: Snapshot) => void,
): Promise<void> {
  const { projectId, environment } = token
  const record = new CallRecord({ id: requestId, projectId, environment })
  const { action } = createProposal.access
  await decideDurably(access, token, async (snapshot, snapshots) => {
    const result = await orRefusal(async () => {
      await decideWhenRead(() => snapshots.requireVerified(snapshot, token))
      check(snapshot)
    })
    const conclusion = result instanceof Fault ? record.refusal(result) : record.outcome(201, false)
    const entry = entryOf(token, snapshot.policyVersion, record, conclusion)
    return { result, entry: { ...entry, action } }
  })
}

/** @throws Fault `invalid_token`, `rate_limited`, `scope_required`, `not_found` for another token's */
async function showOwn(
  { access, db }: Parts,
  { request, requestId, params }: RequestContext,
): Promise<Response> {
  const text = bearerText(request.headers)
  const { token, rate } = await admitToken(access, getOwnProposal, { text, requestId })
  await requireLive(access, token)
  const { proposal_id: id } = parsePart(getOwnProposal.params, params)
  const { workspaceId, id: tokenId } = token
  const found = await selectOwnProposal(db, { workspaceId, tokenId }, { id })
  if (!found) throw new Fault('not_found')
  return present(getOwnProposal, found, { ...buildCommonHeaders(requestId), ...rateHeaders(rate) })
}

async function requireLive(access: Access, token: LiveToken): Promise<void> {
  if (!(await access.tokens.versions([token.id])).has(token.id)) throw new Fault('invalid_token')
  await requireGrantedNow(access, token)
}
