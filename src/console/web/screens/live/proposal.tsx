/** The one change that would let a refused call through, shown as it will be signed, and made on a press. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useManages } from '../../frame/manages.ts'
import type { Returned } from '../../keys/messages.ts'
import { Button } from '../../parts/button.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CopyButton } from '../../parts/show/copy.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { useHold } from './hold.ts'
import type { LiveCall } from './stream.ts'

const words = texts.live

type Proposed = Returned<'live.propose'>
type Change = Proposed['change']

export function Proposal({
  workspaceId,
  call,
  onClose,
}: {
  workspaceId: string
  call: LiveCall
  onClose(): void
}) {
  const input = { workspaceId, call: refusedOf(call) }
  const { data, error } = useAsk('live.propose', input)
  const manages = useManages(workspaceId)
  const allow = useCommand('live.allow', {
    changes: ['live.propose', 'allowlist.list', 'agents.tokens'],
  })
  if (error) return <FailureNote error={error} />
  if (!data) return <Loading />
  const { change, version, isDone } = data
  if (change.kind === 'none') return <Nothing why={change.why} workspaceId={workspaceId} />
  if (allow.isSuccess || isDone) {
    return (
      <Banner kind="good">
        <p role="status">{allow.isSuccess ? words.done : words.isDone}</p>
      </Banner>
    )
  }
  if (manages === false && change.kind !== 'policy') return <ForAdmins change={change} />
  return (
    <Banner>
      <Still />
      <p>{words.change}</p>
      <Shown proposed={data} />
      <div className="row">
        <Button
          kind="primary"
          isPending={allow.isPending}
          onPress={() => allow.mutate({ workspaceId, change, version })}
        >
          {words.sign}
        </Button>
        <Button onPress={onClose}>{texts.common.cancel}</Button>
      </div>
      {allow.error ? <FailureNote error={allow.error} /> : null}
    </Banner>
  )
}

/** The list stands still while this is shown: a press must sign what was read. */
function Still() {
  useHold(true)
  return null
}

/** What of the record it is worked out from. */
function refusedOf(call: LiveCall) {
  const { reason, refused_by, method, target_domain, target_url, target_path } = call
  const { credential_ref, injection_style, project_id, environment, registration_id, token_id } =
    call
  return {
    ...{ reason, refused_by, method, target_domain, target_url, target_path },
    ...{ credential_ref, injection_style, project_id, environment, registration_id, token_id },
  }
}

function Shown({
  proposed: { change, link, version, before, to },
}: {
  proposed: Proposed
}): ReactNode {
  switch (change.kind) {
    case 'allowlist':
      return (
        <>
          <p>
            <strong>{words.toAllowlist(change.domain)}</strong> {words.everyAgent}
          </p>
          {link === null ? null : <p>{words.link(link)}</p>}
        </>
      )
    case 'policy':
      return (
        <>
          <p>{words.toPolicy(change.secret, change.environment)}</p>
          <p>
            {words.rule[change.rule]}: <code>{before?.join(', ') ?? words.usual}</code>{' '}
            <strong>
              + <code>{change.entry}</code>
            </strong>
          </p>
          {version === null ? null : <p>{words.version(version)}</p>}
        </>
      )
    case 'grant':
      return (
        <p>
          {to ? <strong>{words.toToken(to)}</strong> : null} {words.toTokenMeans}
        </p>
      )
    default:
      return null
  }
}

function Nothing({ why, workspaceId }: { why: 'scope' | 'rule' | 'other'; workspaceId: string }) {
  const params = { workspaceId }
  return (
    <Banner>
      <p>{words.nothing[why]}</p>
      {why === 'scope' ? (
        <Link to="/w/$workspaceId/agents" params={params}>
          {words.toAgents}
        </Link>
      ) : null}
      {why === 'rule' ? (
        <Link to="/w/$workspaceId/secrets" params={params}>
          {words.toSecrets}
        </Link>
      ) : null}
    </Banner>
  )
}

function ForAdmins({ change }: { change: Change }) {
  const command =
    change.kind === 'allowlist'
      ? `cloakroom allowlist add ${change.domain}`
      : 'cloakroom token grant'
  return (
    <Banner>
      <p>{words.askAdmin}</p>
      <CopyButton text={command} name={texts.common.theCommand} />
    </Banner>
  )
}
