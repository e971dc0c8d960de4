/** One call in the inspector: the whole address, who made it, and with which secrets. */
import { Ban, CircleX } from 'lucide-react'
import { useState } from 'react'
import { listUnfilled } from '../../../../core/policy/unfilled.ts'
import { useManages } from '../../manages.ts'
import { IconMenu } from '../../parts/overlays/menu.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { Facts } from '../../parts/page/facts.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { Proof } from '../../parts/page/proof.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { momentOf } from '../../parts/show/moments.ts'
import { Status } from '../../parts/show/status.tsx'
import { Tag } from '../../parts/show/tag.tsx'
import { texts } from '../../texts/index.ts'
import { RevokeQuestion } from '../agents/revoke.tsx'
import type { LiveCall } from './stream.ts'
import {
  callHostOf,
  callOutcomeOf,
  callPathOf,
  callTitleOf,
  isRefused,
  secretsOf,
  whyOf,
} from './words.ts'

const words = texts.live

type Props = { workspaceId: string; call: LiveCall; onClose(): void }

export function CallInspector({ workspaceId, call, onClose }: Props) {
  return (
    <Inspector
      title={callTitleOf(call)}
      status={<CallStatus call={call} />}
      badge={<CallMenu workspaceId={workspaceId} call={call} />}
      onClose={onClose}
    >
      <WhatHappened call={call} />
      <CallSection call={call} />
    </Inspector>
  )
}

export function CallStatus({ call }: { call: LiveCall }) {
  const { text, tone } = callOutcomeOf(call)
  const icon = { blocked: { icon: Ban }, error: { icon: CircleX }, allowed: {} }
  return (
    <Status tone={tone} {...(call.decision ? icon[call.decision] : {})}>
      {text}
    </Status>
  )
}

export function WhatHappened({ call }: { call: LiveCall }) {
  const why = whyOf(call)
  return (
    <div className="flex flex-col gap-2 px-4 pb-3.5 empty:hidden">
      {why ? <p className="text-ink-2">{why}</p> : null}
      {call.unfilled ? (
        <Banner kind="warning">
          <p>{words.unfilled(listUnfilled(call.unfilled))}</p>
        </Banner>
      ) : null}
      {isRefused(call) && call.source === 'client' ? (
        <Banner kind="warning">
          <p>{words.reported}</p>
        </Banner>
      ) : null}
    </div>
  )
}

/** The whole address, however long it is. */
export function CallSection({ call }: { call: LiveCall }) {
  const { method, agent_id: agent, environment, duration_ms: took } = call
  const secrets = secretsOf(call)
  return (
    <InspectorSection title={words.request}>
      <p className="mb-2 font-mono text-mono wrap-anywhere">
        {method} <b className="font-semibold">{callHostOf(call)}</b>
        {callPathOf(call)}
      </p>
      <Facts
        rows={[
          [words.columns.time, momentOf(call.timestamp)],
          [words.columns.agent, agent || words.anonymous],
          ...(environment ? [[words.environment, environment] as const] : []),
          ...(secrets.length > 0
            ? [[words.columns.secret, <SecretTags key="" names={secrets} />] as const]
            : []),
          ...(took === null ? [] : [[words.duration, words.took(took)] as const]),
        ]}
      />
      <div className="pt-3">
        <CallProof call={call} />
      </div>
    </InspectorSection>
  )
}

function SecretTags({ names }: { names: readonly string[] }) {
  return (
    <span className="flex flex-wrap gap-1">
      {names.map((name) => (
        <Tag key={name}>{name}</Tag>
      ))}
    </span>
  )
}

function CallProof({ call: { id, reason, token_id: token } }: { call: LiveCall }) {
  const rows: [string, string][] = [[words.recordId, id]]
  if (reason) rows.push([words.code, reason])
  if (token) rows.push([words.tokenId, token])
  return (
    <Proof>
      <Facts rows={rows} />
    </Proof>
  )
}

/** Revokes the token that made the call. */
export function CallMenu({ workspaceId, call }: Omit<Props, 'onClose'>) {
  const manages = useManages(workspaceId)
  const [isOpen, setOpen] = useState(false)
  const { token_id: tokenId, agent_id: name } = call
  const owner = ownerOf(workspaceId, call)
  if (!manages || !tokenId || !owner) return null
  const act = () => setOpen(true)
  return (
    <>
      <IconMenu
        size="small"
        choices={[{ id: 'revoke', label: words.revokeToken(name), act, isDanger: true, icon: Ban }]}
      />
      {isOpen ? (
        <RevokeQuestion
          {...{ owner, tokenId, name, label: words.itsToken }}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </>
  )
}

/** The token is an agent's, or a project's workloads use it. */
function ownerOf(workspaceId: string, { registration_id, project_id }: LiveCall) {
  if (registration_id) return { workspaceId, agentId: registration_id }
  return project_id ? { workspaceId, projectId: project_id } : null
}
