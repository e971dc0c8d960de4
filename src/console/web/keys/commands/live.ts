/** The one change that would let a refused call through, worked out, shown, and made when somebody says so. */
import {
  type Allowing,
  allowingOf,
  type Refused as RefusedCall,
  widened,
} from '../../../../client/agents/allowing.ts'
import { holderOf } from '../../../../client/agents/tokens.ts'
import { readSecret } from '../../../../client/environment.ts'
import { opened, upload } from '../../../../client/sealing.ts'
import { grantEnvironment, signingOf } from '../../../../client/vault.ts'
import { listAgentTokens, provisionAgentToken } from '../../../../features/agents/contract.ts'
import type { Policy } from '../../../../platform/policy.ts'
import { Refused } from '../failure.ts'
import type { Held } from '../held.ts'
import { environmentOf, workspaceOf } from '../places.ts'
import * as allowlist from './allowlist.ts'

type Of = { workspaceId: string }

/** The change, with what it is made to as it is now; nothing is done. */
export async function propose(held: Held, { workspaceId, call }: Of & { call: RefusedCall }) {
  const change = allowingOf(call)
  const { open } = await workspaceOf(held, workspaceId)
  const chain = await signingOf(open)?.chains.continued(open)
  if (change.kind === 'policy') {
    const { policy, version } = await secretOf(held, workspaceId, change)
    const isDone = widened(policy, change) === policy
    return { change, isDone, version, link: null, before: policy?.[change.rule] ?? null }
  }
  const isDone = change.kind === 'allowlist' && chain?.allowlist.has(change.domain) === true
  const link = change.kind === 'allowlist' && chain ? chain.seq + 1 : null
  return { change, isDone, link, version: null, before: null }
}

/** Exactly what was shown. @throws ApiError `conflict` where the secret is another by now */
export async function allow(
  held: Held,
  { workspaceId, change, version }: Of & { change: Allowing; version: number | null },
) {
  if (change.kind === 'allowlist') await allowlist.add(held, { workspaceId, domain: change.domain })
  if (change.kind === 'grant') await grant(held, workspaceId, change)
  if (change.kind === 'policy') await widen(held, workspaceId, change, version)
}

type Widening = Extract<Allowing, { kind: 'policy' }>

/** Value and policy prove each other. @throws Refused `unreadable_value` */
async function secretOf(
  held: Held,
  workspaceId: string,
  { projectId, environment, secret }: Widening,
) {
  const place = await environmentOf(held, { workspaceId, projectId, environment })
  const stored = await readSecret(place, secret)
  const value = opened(place, stored)
  if (value === null) throw new Refused('unreadable_value')
  return { place, value, policy: (stored.policy ?? null) as Policy | null, version: stored.version }
}

async function widen(held: Held, workspaceId: string, change: Widening, version: number | null) {
  const {
    place,
    value,
    policy,
    version: expectedVersion,
  } = await secretOf(held, workspaceId, change)
  if (version !== expectedVersion) throw new Refused('conflict')
  const entry = { key: change.secret, value, policy: widened(policy, change), expectedVersion }
  await upload(place, [entry], false)
}

async function grant(
  held: Held,
  workspaceId: string,
  { agentId, tokenId, projectId, environment }: Extract<Allowing, { kind: 'grant' }>,
) {
  const { open } = await workspaceOf(held, workspaceId)
  const params = { workspace_id: workspaceId, registration_id: agentId }
  const tokens = await held.api.list(listAgentTokens, { params })
  const token = tokens.find(({ id }) => id === tokenId)
  if (token?.status !== 'active') throw new Refused('not_found')
  const holder = await holderOf(open, token, { agentId })
  const envelope = await grantEnvironment(open, holder, projectId, environment)
  await held.api.call(provisionAgentToken, {
    params: { ...params, token_id: tokenId },
    body: [envelope],
  })
}
