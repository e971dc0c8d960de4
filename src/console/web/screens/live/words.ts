/** Puts a record into words, and decides which filters it matches. */
import { type FaultCode, faultCodes, messageOf } from '../../../../core/fault.ts'
import { texts } from '../../texts/index.ts'
import type { LiveCall } from './stream.ts'

const { why, decisions, underWay } = texts.live

export const shownCalls = ['all', 'refused', 'failed'] as const
export type Filter = {
  show: (typeof shownCalls)[number]
  agent: string | undefined
  host: string | undefined
  secret: string | undefined
}

/** Changes in the workspace are records, too, but not calls. */
export const isCall = ({ source, action }: LiveCall) =>
  source !== 'control_plane' && action === null

export function matchesFilter(call: LiveCall, { show, agent, host, secret }: Filter): boolean {
  if (show === 'refused' && call.decision !== 'blocked') return false
  if (show === 'failed' && call.decision !== 'error') return false
  if (agent !== undefined && call.agent_id !== agent) return false
  if (host !== undefined && callHostOf(call) !== host) return false
  return secret === undefined || secretsOf(call).includes(secret)
}

export const callHostOf = ({ target_url, target_domain }: LiveCall) =>
  URL.parse(target_url ?? '')?.host ?? target_domain ?? ''

export const secretsOf = ({ credential_ref }: LiveCall) =>
  credential_ref ? [...new Set(credential_ref.split(','))] : []

/** The method and the host. A call that failed before its target was read has neither. */
export function callTitleOf(call: LiveCall): string {
  return `${call.method ?? ''} ${callHostOf(call)}`.trim() || texts.live.noTarget
}

/** The part of a call's URL after the host. */
export function callPathOf({ target_url, target_path }: LiveCall): string {
  const url = URL.parse(target_url ?? '')
  return url ? `${url.pathname}${url.search}` : (target_path ?? '')
}

export function isRefused({ decision }: LiveCall): boolean {
  return decision === 'blocked' || decision === 'error'
}

export function callOutcomeOf(call: LiveCall): {
  text: string
  tone: 'green' | 'amber' | 'red' | 'neutral'
} {
  const { decision, status_code: status } = call
  if (decision === 'blocked') return { text: decisions.blocked, tone: 'red' }
  if (decision === 'error') return { text: decisions.error, tone: 'amber' }
  if (decision === null || status === null) return { text: underWay, tone: 'neutral' }
  if (call.unfilled) return { text: String(status), tone: 'amber' }
  return { text: String(status), tone: status < 400 ? 'green' : 'neutral' }
}

/** Null if nothing was refused. */
export function whyOf(call: LiveCall): string | null {
  const { reason, refused_by: by } = call
  if (!isRefused(call) || reason === null) return null
  if (reason === 'domain_blocked') return why.notListed(callHostOf(call))
  if (reason === 'caller_gone') return why.callerGone
  if (reason === 'policy_blocked' && by) {
    const known = {
      host: call.target_domain ?? '',
      method: call.method ?? '',
      path: call.target_path ?? '',
    }
    return why.policy(by.secret, why.rules[by.rule](known))
  }
  return isFaultCode(reason) ? messageOf(reason) : why.other
}

function isFaultCode(code: string): code is FaultCode {
  return (faultCodes as readonly string[]).includes(code)
}
