/** A refused call: what happened, the one change that lets it through, and how far that goes. Signed with one press. */
import { useState } from 'react'
import type { Returned } from '../../keys/messages.ts'
import { useManages } from '../../manages.ts'
import { Button } from '../../parts/button.tsx'
import { RadioCards } from '../../parts/fields/radio_cards.tsx'
import { LinkButton } from '../../parts/link_button.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Inspector } from '../../parts/page/inspector.tsx'
import { InspectorSection } from '../../parts/page/section.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { Command } from '../../parts/show/command.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DECIDED, type WaitingHost, type WaitingItem } from '../../waiting.ts'
import { NextCall } from '../waiting/next_call.tsx'
import { IgnoreButton, SignButton } from '../waiting/sign.tsx'
import { CallMenu, CallSection, WhatHappened } from './call.tsx'
import { Changes } from './changes.tsx'
import { refusedHeading } from './refused_heading.tsx'
import type { LiveCall } from './stream.ts'

const words = texts.live

type Proposed = Returned<'live.propose'>
type Change = Proposed['change']

/** Reasons that a change in the workspace can remove. */
const ALLOWABLE = ['domain_blocked', 'policy_blocked', 'key_not_provisioned', 'scope_required']
const CHANGED = [
  ...DECIDED,
  ...(['live.propose', 'allowlist.list', 'agents.tokens', 'secrets.matrix'] as const),
]

export const isAllowable = ({ reason }: LiveCall) => ALLOWABLE.includes(reason ?? '')

type Props = {
  workspaceId: string
  call: LiveCall
  /** All calls until now. */
  calls: readonly LiveCall[]
  onClose(): void
  item?: WaitingItem
  refused?: WaitingHost
}

/** The signed decision, and the newest call before it. */
type Signed = { proposed: Proposed; lastId: string }

export function RefusedInspector(props: Props) {
  const { workspaceId, call, calls, onClose, item, refused } = props
  const { data, error } = useAsk('live.propose', { workspaceId, call: refusedOf(call) })
  const manages = useManages(workspaceId)
  const [isNarrow, setNarrow] = useState(true)
  const { signed, allow, sign } = useSigning(props, data, isNarrow)
  const proposed = signed?.proposed ?? data
  const isOpen = data !== undefined && signed === null && canSign(data, manages)
  const ignoring = item ? <IgnoreButton item={item} onClose={onClose} /> : null
  return (
    <Inspector
      {...refusedHeading(call, proposed, signed !== null)}
      badge={<CallMenu workspaceId={workspaceId} call={call} />}
      onClose={onClose}
      footer={
        isOpen ? (
          <>
            <SignButton isPending={allow.isPending} onSign={sign} />
            {ignoring}
          </>
        ) : (
          <Button onPress={onClose}>{texts.common.close}</Button>
        )
      }
    >
      {refused ? <Tries refused={refused} /> : <WhatHappened call={call} />}
      {signed ? (
        <NextCall calls={calls} lastId={signed.lastId} isNext={(next) => isSame(call, next)} />
      ) : null}
      {error ? <FailureNote error={error} /> : null}
      {proposed ? (
        <>
          <Answer {...{ proposed, manages, workspaceId, isSigned: signed !== null }} />
          <Changes proposed={proposed} isNarrow={isNarrow} />
        </>
      ) : (
        <SkeletonRows count={3} />
      )}
      {isOpen ? <HowFar proposed={data} value={isNarrow} onChange={setNarrow} /> : null}
      {allow.error && signed === null ? <FailureNote error={allow.error} /> : null}
      <CallSection call={call} />
    </Inspector>
  )
}

/** A failure that comes after the signature, such as a list that can't be read again, is not one of the signature. */
function useSigning(
  { workspaceId, calls }: Props,
  proposed: Proposed | undefined,
  isNarrow: boolean,
) {
  const [signed, setSigned] = useState<Signed | null>(null)
  const allow = useCommand('live.allow', { changes: CHANGED })
  const sign = () => {
    if (!proposed) return
    const { change, version } = proposed
    const narrowing = isNarrow ? proposed.narrowing : null
    const lastId = calls[0]?.id ?? ''
    allow.mutate(
      { workspaceId, change, version, narrowing },
      { onSuccess: () => setSigned({ proposed, lastId }) },
    )
  }
  return { signed, allow, sign }
}

function canSign({ change, isDone }: Proposed, manages: boolean | null): boolean {
  return !isDone && change.kind !== 'none' && !isForAdmins(change, manages)
}

function isForAdmins(change: Change, manages: boolean | null): boolean {
  return manages === false && (change.kind === 'allowlist' || change.kind === 'grant')
}

/** The next try of the same: the token for a key, else the agent and the host. */
function isSame(call: LiveCall, next: LiveCall): boolean {
  if (call.reason === 'key_not_provisioned') return next.token_id === call.token_id
  return next.agent_id === call.agent_id && next.target_domain === call.target_domain
}

/** The fields of the record that the change is worked out from. */
function refusedOf(call: LiveCall) {
  const { reason, refused_by, method, target_domain, target_url, target_path } = call
  const { credential_ref, injection_style, project_id, environment, registration_id, token_id } =
    call
  return {
    ...{ reason, refused_by, method, target_domain, target_url, target_path },
    ...{ credential_ref, injection_style, project_id, environment, registration_id, token_id },
  }
}

function Tries({ refused: { agent, calls, firstAt, newest } }: { refused: WaitingHost }) {
  const seconds = (Date.now() - Date.parse(firstAt)) / 1_000
  return (
    <>
      <p className="px-4 pb-3.5 text-ink-2">
        {words.tried(agent || words.anonymous, calls, seconds)}
      </p>
      {newest.source === 'client' ? <WhatHappened call={newest} /> : null}
    </>
  )
}

type AnswerProps = {
  proposed: Proposed
  manages: boolean | null
  workspaceId: string
  isSigned: boolean
}

/** Why nothing can be signed here, if that is so. */
function Answer({ proposed: { change, isDone }, manages, workspaceId, isSigned }: AnswerProps) {
  if (change.kind === 'none') return <Nothing why={change.why} workspaceId={workspaceId} />
  if (isSigned) return null
  if (isDone) return <p className="px-4 pb-3.5 font-medium">{words.isDone}</p>
  if (!isForAdmins(change, manages)) return null
  const command =
    change.kind === 'allowlist'
      ? `cloakroom allowlist add ${change.domain}`
      : 'cloakroom token grant'
  return (
    <InspectorSection title={words.askAdmin}>
      <Command text={command} />
    </InspectorSection>
  )
}

function Nothing({ why, workspaceId }: { why: 'scope' | 'rule' | 'other'; workspaceId: string }) {
  const params = { workspaceId }
  return (
    <InspectorSection title={words.whatHelps}>
      <div className="flex flex-col items-start gap-2">
        <p>{words.nothing[why]}</p>
        {why === 'scope' ? (
          <LinkButton to="/w/$workspaceId/agents" params={params}>
            {words.toAgents}
          </LinkButton>
        ) : null}
        {why === 'rule' ? (
          <LinkButton to="/w/$workspaceId/secrets" params={params}>
            {words.toSecrets}
          </LinkButton>
        ) : null}
      </div>
    </InspectorSection>
  )
}

type HowFarProps = { proposed: Proposed; value: boolean; onChange(isNarrow: boolean): void }

/** The narrowest choice comes first. */
function HowFar({ proposed: { change, narrowing, unlimited }, value, onChange }: HowFarProps) {
  if (change.kind !== 'allowlist') return null
  if (!narrowing) {
    return (
      <InspectorSection title={words.howFar}>
        <p>{words.everyAgent}</p>
        <p className="text-ink-2">{words.unlimited(unlimited)}</p>
      </InspectorSection>
    )
  }
  const others = narrowing.after.filter((host) => host !== change.domain)
  const options = [
    {
      id: 'secret',
      title: words.limitSecret(narrowing.secret, others),
      help: words.limitHelp(others, unlimited),
    },
    {
      id: 'any',
      title: words.withAny,
      help: words.unlimited(unlimited + (narrowing.before === null ? 1 : 0)),
    },
  ] as const
  return (
    <InspectorSection title={words.howFar}>
      <RadioCards
        label={words.howFar}
        isLabelHidden
        options={options}
        value={value ? 'secret' : 'any'}
        onChange={(id) => onChange(id === 'secret')}
      />
    </InspectorSection>
  )
}
