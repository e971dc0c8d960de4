/** One call: who, what and with which secrets; of a refused one why, and what would let it through. */
import { memo, useState } from 'react'
import { listUnfilled } from '../../../../core/policy/unfilled.ts'
import { useManages } from '../../frame/manages.ts'
import { Button } from '../../parts/button.tsx'
import { timeOf } from '../../parts/show/moments.ts'
import { texts } from '../../texts/index.ts'
import { RevokeQuestion } from '../agents/revoke.tsx'
import { Proposal } from './proposal.tsx'
import type { LiveCall } from './stream.ts'
import { isRefused, outcomeWords, whyOf } from './words.ts'

const words = texts.live

/** What a change in the workspace can have to do with. */
const ALLOWABLE = ['domain_blocked', 'policy_blocked', 'key_not_provisioned', 'scope_required']

type Props = { workspaceId: string; call: LiveCall }

export const CallRow = memo(function CallRow({ workspaceId, call }: Props) {
  const [isOpen, setOpen] = useState(false)
  const why = whyOf(call)
  const what = whatOf(call)
  return (
    <li className="entry stack-tight">
      <div className="live-line">
        <time dateTime={call.timestamp} className="soft small">
          {timeOf(call.timestamp)}
        </time>
        <span className={`badge ${badgeOf(call)}`}>{outcomeWords(call)}</span>
        <strong>{call.agent_id || words.anonymous}</strong>
        <code>{what}</code>
        {call.credential_ref ? (
          <span className="soft">{words.with(call.credential_ref.replaceAll(',', ', '))}</span>
        ) : null}
        <span className="space" />
        {call.duration_ms === null ? null : (
          <span className="soft small">{words.took(call.duration_ms)}</span>
        )}
        <RevokeItsToken workspaceId={workspaceId} call={call} />
      </div>
      {call.unfilled ? (
        <div className="live-line">
          <span>{words.unfilled(listUnfilled(call.unfilled))}</span>
        </div>
      ) : null}
      {why ? (
        <div className="live-line">
          <span>{why}</span>
          {call.source === 'client' ? <span className="soft">{words.reported}</span> : null}
          {ALLOWABLE.includes(call.reason ?? '') ? (
            <Button
              aria-expanded={isOpen}
              aria-label={words.allowNamed(what)}
              onPress={() => setOpen(!isOpen)}
            >
              {words.allow}
            </Button>
          ) : null}
        </div>
      ) : null}
      {isOpen ? (
        <Proposal workspaceId={workspaceId} call={call} onClose={() => setOpen(false)} />
      ) : null}
    </li>
  )
})

function RevokeItsToken({ workspaceId, call }: Props) {
  const manages = useManages(workspaceId)
  const [isOpen, setOpen] = useState(false)
  const { token_id: tokenId, agent_id: name } = call
  const owner = ownerOf(workspaceId, call)
  if (!manages || !tokenId || !owner) return null
  const question = { owner, tokenId, name, label: words.itsToken }
  return (
    <>
      <Button
        kind="ghost"
        aria-label={texts.agents.revokeOf(words.itsToken, name)}
        onPress={() => setOpen(true)}
      >
        {texts.agents.revoke}
      </Button>
      {isOpen ? <RevokeQuestion {...question} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** Of an agent, or of a project's workloads. */
function ownerOf(workspaceId: string, { registration_id, project_id }: LiveCall) {
  if (registration_id) return { workspaceId, agentId: registration_id }
  return project_id ? { workspaceId, projectId: project_id } : null
}

function whatOf({ method, target_url, action, resource }: LiveCall): string {
  if (target_url) return `${method ?? ''} ${target_url}`.trim()
  return [action, resource?.name].filter(Boolean).join(' ')
}

function badgeOf(call: LiveCall): string {
  if (isRefused(call)) return call.decision === 'blocked' ? 'badge-danger' : 'badge-warning'
  return call.status_code !== null && call.status_code < 400 ? 'badge-good' : ''
}
