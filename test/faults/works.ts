/** The kinds of work: secrets in bulk, allowlist, tokens, calls, sessions, keys of workspaces and of accounts. */

import { allowHosts, disallowHost } from '../../src/client/actions/allowlist.ts'
import { endToken } from '../../src/client/actions/end_tokens.ts'
import { renewWorkspaceKey } from '../../src/client/actions/rekey.ts'
import { generateNextKeys, rotateKeys } from '../../src/client/actions/rotate_keys.ts'
import { ApiError, openApi } from '../../src/client/http/api.ts'
import { refresh } from '../../src/features/accounts/contract.ts'
import { listAllowlist } from '../../src/features/allowlist/contract.ts'
import { listAuditLogs } from '../../src/features/audit/contract.ts'
import { must } from './ledger.ts'
import {
  type AgentToken,
  createAgent,
  newProject,
  PASSWORD,
  type Person,
  placeOf,
  readValues,
  store,
} from './person.ts'
import type { Replica, Subject } from './subject.ts'
import type { Work } from './work.ts'

const BULK = 8

/** One value for several names in one request: all of them have it, or none. */
export async function bulkWork({ ledger }: Subject, person: Person): Promise<Work> {
  const projectId = await newProject(person)
  const name = `bulk ${projectId}`
  let tried = 0
  const sealedUnder = (generation: number) =>
    Object.fromEntries(
      Array.from({ length: BULK }, (_, index) => [`BULK_${index}`, String(generation)]),
    )
  return {
    name,
    origin: person.origin,
    step: async () => {
      tried += 1
      await store(placeOf(person, projectId), sealedUnder(tried))
      ledger.note(name, 'stored', tried)
    },
    reconcile: async () => {
      const values = await readValues(placeOf(person, projectId))
      const acknowledged = Number(ledger.of(name, 'stored').at(-1) ?? 0)
      const distinct = new Set(values.values())
      must(distinct.size <= 1, () => `a bulk write is torn: ${[...values].join(' ')}`)
      must([0, BULK].includes(values.size), () => `${values.size} of ${BULK} names are there`)
      const [stored = '0'] = distinct
      must(
        Number(stored) >= acknowledged,
        () => `${acknowledged} was acknowledged, ${stored} is there`,
      )
      must(Number(stored) <= tried, () => `${stored} is there, which nobody wrote`)
    },
  }
}

/** Domains that are added and removed; the chain and the rows agree. */
export function allowlistWork({ ledger, domain: needed }: Subject, person: Person): Work {
  const { api } = person
  const params = { workspace_id: person.workspace.id }
  let count = 0
  const present: string[] = []
  const trying = new Set<string>()
  const noted = async (fact: 'added' | 'removed', domain: string) => {
    trying.add(domain)
    if (fact === 'added') await allowHosts(person, [domain])
    else await disallowHost(person, domain)
    ledger.note('allowlist', fact, domain)
    trying.delete(domain)
  }
  return {
    name: 'allowlist',
    origin: person.origin,
    step: async () => {
      count += 1
      const domain = `d${count}.example`
      await noted('added', domain)
      present.push(domain)
      if (present.length > 3) await noted('removed', present.shift() ?? '')
    },
    reconcile: async () => {
      const rows = (await api.list(listAllowlist, { params })).map(({ domain }) => domain)
      await mustBeSigned(person, rows)
      const removed = new Set(ledger.of('allowlist', 'removed'))
      const due = ledger.of('allowlist', 'added').filter((domain) => !removed.has(domain))
      const gone = due.filter((domain) => !rows.includes(domain) && !trying.has(domain))
      must(gone.length === 0, () => `${gone} was added and is gone`)
      const back = rows.filter((domain) => removed.has(domain))
      must(back.length === 0, () => `${back} was removed and is allowed again`)
      const unexpected = rows.filter((row) => ![...due, ...trying, needed].includes(row))
      must(unexpected.length === 0, () => `${unexpected} is allowed, which nobody asked for`)
      // The outcome of the last attempts is known now.
      for (const domain of trying) {
        ledger.note('allowlist', rows.includes(domain) ? 'added' : 'removed', domain)
      }
      trying.clear()
      present.splice(0, present.length, ...rows.filter((row) => row !== needed))
    },
  }
}

async function mustBeSigned({ workspace }: Person, rows: readonly string[]): Promise<void> {
  const chain = await workspace.newestChain()
  const signed = [...(chain?.allowlist ?? [])].sort().join()
  const stored = [...rows].sort().join()
  must(stored === signed, () => `the rows allow ${stored}, the chain ${signed}`)
}

/** An agent's call: the status, which is the API's if it was reached. */
export async function resolveAs(
  { resolver }: Pick<Replica, 'resolver'>,
  { token }: Pick<AgentToken, 'token'>,
  target_url: string,
): Promise<number> {
  const response = await fetch(`${resolver}/v1/resolve`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ target_url, headers: { Authorization: 'Bearer SVC_SECRET_API_KEY' } }),
    signal: AbortSignal.timeout(60_000),
  })
  const answer = (await response.json()) as { error_code?: string }
  if (response.status >= 500) throw new ApiError(response.status, answer)
  return response.status
}

export async function forwardAs(
  { resolver }: Pick<Replica, 'resolver'>,
  { token }: Pick<AgentToken, 'token'>,
  target: string,
): Promise<number> {
  const response = await fetch(`${resolver}/v1/forward/${target.replace('https://', '')}`, {
    headers: { 'x-service-token': token, authorization: 'Bearer SVC_SECRET_API_KEY' },
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  if (response.status >= 500) throw new ApiError(response.status, JSON.parse(text))
  return response.status
}

/** The upstream's own log, compared with the audit: no call reached it without a record, and answered calls have one. */
export function callWork(subject: Subject, person: Person, agent: AgentToken, via: Replica): Work {
  const { ledger, upstream, target } = subject
  const id = crypto.randomUUID().slice(0, 8)
  const name = `calls ${id}`
  let count = 0
  let compared = 0
  return {
    name,
    origin: via.controlPlane,
    step: async () => {
      count += 1
      const path = `/${id}/${count}`
      const call = count % 4 === 0 ? forwardAs : resolveAs
      const status = await call(via, agent, target(path))
      must(status === 200, () => `a call that is allowed was answered ${status}`)
      ledger.note(name, 'answered', path)
    },
    reconcile: async () => {
      const until = Date.now() + 40_000
      const reached = upstream.received
        .map(({ path }) => path)
        .filter((path) => path.startsWith(`/${id}/`))
      const answered = ledger.of(name, 'answered').slice(compared)
      const missing = new Set([...answered, ...reached.slice(compared)])
      const { size } = missing
      await strikeRecorded(person, missing)
      // Entries that a killed process left in the journal become records within 15 seconds.
      while (missing.size > 0 && Date.now() < until) {
        await Bun.sleep(200)
        await strikeRecorded(person, missing)
      }
      must(
        missing.size === 0,
        () => `${missing.size} of ${size} calls without a record: ${firstTwenty(missing)}`,
      )
      const arrived = new Set(reached)
      const lost = answered.filter((path) => !arrived.has(path))
      must(lost.length === 0, () => `answered without having reached the API: ${lost}`)
      compared = answered.length + compared
    },
  }
}

const firstTwenty = (paths: Iterable<string>) => [...paths].slice(0, 20).join(' ')

/**
 * Removes entries that have a record, until none is left or there are no more records: another process may have
 * written many more.
 */
async function strikeRecorded({ api, workspace }: Person, missing: Set<string>): Promise<void> {
  const query = { workspace_id: workspace.id, domain: 'api.faults.example', limit: 500 }
  let cursor: string | undefined
  while (missing.size > 0) {
    const page = await api.page(listAuditLogs, { query: cursor ? { ...query, cursor } : query })
    for (const { target_path } of page.data) missing.delete(target_path ?? '')
    if (page.next === null) return
    cursor = page.next
  }
}

/**
 * Tokens that are created, used, and revoked; a revoked one is rejected from then on, by each process and both
 * listeners.
 */
export function revokeWork(subject: Subject, person: Person): Work {
  const { ledger, replicas, target } = subject
  const isServing = ({ controlPlane }: Replica) => controlPlane === person.origin
  const own = replicas.find(isServing) ?? replicas[0]
  let count = 0
  let ending: AgentToken | null = null
  const live = new Map<string, AgentToken>()
  const refusedBy = async (replica: Replica, token: string) => {
    for (const call of [resolveAs, forwardAs]) {
      const status = await call(replica, { token }, target('/ended'))
      must(status === 401, () => `a revoked token was answered ${status} by ${call.name}`)
    }
  }
  const revoke = async (agent: AgentToken) => {
    ending = agent
    const by = { api: person.api, workspace: person.workspace, unsigned: () => {} }
    await endToken(by, { agentId: agent.agentId }, agent.tokenId)
    ledger.note('tokens', 'revoked', agent.token)
    ledger.note('tokens', 'ended', agent.tokenId)
    live.delete(agent.tokenId)
    ending = null
  }
  return {
    name: 'tokens',
    origin: person.origin,
    step: async () => {
      count += 1
      const agent = await createAgent(person, `short-lived-${count}`)
      ledger.note('tokens', 'made', agent.token)
      live.set(agent.tokenId, agent)
      if (own) {
        const status = await resolveAs(own, agent, target('/live'))
        must(status === 200, () => `a new token was answered ${status}`)
      }
      await revoke(agent)
      // Immediately, also by processes that did not handle the revoke, unless they are down.
      for (const replica of replicas) {
        await refusedBy(replica, agent.token).catch((error) => {
          if (replica === own || (error instanceof Error && error.name === 'Loss')) throw error
        })
      }
    },
    reconcile: async () => {
      // Whether the last revoke was stored is unknown, so a repeat is no error.
      if (ending !== null) await revoke(ending)
      for (const replica of replicas) {
        for (const token of ledger.of('tokens', 'revoked').slice(-6))
          await refusedBy(replica, token)
        for (const agent of live.values()) {
          const status = await resolveAs(replica, agent, target('/live'))
          must(status === 200, () => `a token that was made is answered ${status}`)
        }
      }
      const { api, workspace } = person
      const query = { workspace_id: workspace.id, action: 'token.revoked', limit: 500 }
      const page = await api.page(listAuditLogs, { query })
      const recorded = new Set(page.data.map(({ resource }) => resource?.id))
      const ended = ledger.of('tokens', 'ended').slice(-400)
      const unrecorded = ended.filter((id) => !recorded.has(id))
      must(unrecorded.length === 0, () => `revoked without a record: ${unrecorded}`)
    },
  }
}

/** Renews a session. A lost response ends the session (docs/internals/testing.md, "Fault tests"). */
export function refreshWork({ ledger }: Subject, person: Person): Work {
  const { origin } = person
  let token = person.session.refresh
  let isTrying = false
  const api = openApi(origin)
  const renew = async () => {
    isTrying = true
    const next = await api.call(refresh, { body: { refresh: token } })
    token = next.refresh
    ledger.note('refresh', 'renewed', token)
    isTrying = false
  }
  return {
    name: 'refresh',
    origin,
    step: renew,
    reconcile: async () => {
      const acknowledged = ledger.of('refresh', 'renewed').at(-1) ?? token
      const wasTrying = isTrying
      token = acknowledged
      try {
        await renew()
      } catch (error) {
        const isLost =
          error instanceof ApiError && ['conflict', 'invalid_token'].includes(error.code)
        if (!isLost) throw error
        must(wasTrying, () => 'the refresh token of the last answer is refused')
        await person.logIn()
        token = person.session.refresh
        ledger.note('refresh', 'renewed', token)
        isTrying = false
      }
    },
  }
}

const VALUES = { FIRST: 'one', SECOND: 'two', THIRD: 'three' }

async function mustHaveValues(person: Person): Promise<void> {
  const values = await readValues(placeOf(person))
  for (const [key, value] of Object.entries(VALUES)) {
    must(values.get(key) === value, () => `${key} is ${values.get(key)} after a change of keys`)
  }
}

/** New keys of a workspace: all secrets, envelopes and the link, or no change. */
export async function rekeyWork({ ledger }: Subject, person: Person): Promise<Work> {
  await store(placeOf(person), VALUES)
  let tried = person.workspace.epoch
  return {
    name: 'rekey',
    origin: person.origin,
    step: async () => {
      tried = person.workspace.epoch + 1
      const { next } = await renewWorkspaceKey(person, async () => {})
      ledger.note('rekey', 'epoch', next.epoch)
      person.workspace = { ...person.workspace, epoch: next.epoch, key: next.key }
    },
    reconcile: async () => {
      await person.logIn()
      const { workspace } = person
      const acknowledged = Number(ledger.of('rekey', 'epoch').at(-1) ?? 1)
      must(
        workspace.epoch === acknowledged || workspace.epoch === tried,
        () => `epoch ${acknowledged} was acknowledged, ${workspace.epoch} is there`,
      )
      await workspace.newestChain()
      await workspace.chains?.requireKey(workspace)
      await mustHaveValues(person)
    },
  }
}

/** An account gets new keys ten times a day. */
const MOST_ROTATIONS = 8

/** New keys of an account: the password opens keys that match the workspace, before and after. */
export async function accountWork({ ledger }: Subject, person: Person): Promise<Work> {
  await store(placeOf(person), VALUES)
  const { origin, email } = person
  let rotations = 0
  return {
    name: 'account keys',
    origin,
    step: async () => {
      rotations += 1
      if (rotations > MOST_ROTATIONS) return Bun.sleep(500)
      const holder = { api: person.api, server: origin, email }
      const next = await generateNextKeys()
      await rotateKeys(holder, PASSWORD, next, async () => [person.workspace], [])
      ledger.note('account keys', 'rotated', next.keys.publicKey.toBase64())
      await person.logIn()
      must(
        person.session.publicKey.toBase64() === next.keys.publicKey.toBase64(),
        () => 'the account has other keys than were acknowledged',
      )
      await person.workspace.newestChain()
    },
    reconcile: async () => {
      await person.logIn()
      await person.workspace.newestChain()
      await mustHaveValues(person)
    },
  }
}
