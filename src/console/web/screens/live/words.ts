/** What a record says, in words. */
import { type FaultCode, faultCodes, messageOf } from '../../../../core/fault.ts'
import { texts } from '../../texts/index.ts'
import type { LiveCall } from './stream.ts'

const { why, decisions, underWay, changed, asks } = texts.live

export type ShownCall = 'all' | 'refused' | 'changes'
export type Filter = { show: ShownCall; agent: string; text: string }

export function isShown(call: LiveCall, { show, agent, text }: Filter): boolean {
  if (show !== 'changes' && call.source === 'control_plane') return false
  if (show === 'refused' && !isRefused(call)) return false
  if (agent !== '' && call.agent_id !== agent) return false
  const said = [call.target_url, call.credential_ref, call.action, call.resource?.name].join(' ')
  return said.toLowerCase().includes(text.toLowerCase())
}

export function isRefused({ decision }: LiveCall): boolean {
  return decision === 'blocked' || decision === 'error'
}

export function outcomeWords({ decision, status_code, source, action }: LiveCall): string {
  if (action === 'approval.requested') return asks
  if (source === 'control_plane' && decision === null) return changed
  if (decision === null || (decision === 'allowed' && status_code === null)) return underWay
  return decision === 'allowed' ? String(status_code) : decisions[decision]
}

/** Null where nothing was refused. */
export function whyOf(call: LiveCall): string | null {
  const { reason, refused_by: by } = call
  if (!isRefused(call) || reason === null) return null
  if (reason === 'domain_blocked') return why.notListed(call.target_domain ?? '')
  if (reason === 'caller_gone') return why.callerGone
  if (reason === 'policy_blocked' && by) {
    const known = {
      host: call.target_domain ?? '',
      method: call.method ?? '',
      path: call.target_path ?? '',
    }
    return why.policy(by.secret, why.rules[by.rule](known))
  }
  return isFaultCode(reason) ? messageOf(reason) : why.other(reason)
}

function isFaultCode(code: string): code is FaultCode {
  return (faultCodes as readonly string[]).includes(code)
}
