/** The last step: the token, a call to copy, and the answer as soon as there is one. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../../keys/ask.ts'
import { Button } from '../../parts/button.tsx'
import { TextField } from '../../parts/fields/text_field.tsx'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { CodeBlock } from '../../parts/show/code_block.tsx'
import { SecretValue } from '../../parts/show/secret_value.tsx'
import { useAsk, useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { CallLine } from '../live/call_line.tsx'
import { useLiveCalls } from '../live/stream.ts'
import { isRefused } from '../live/words.ts'
import { curlFor, urlFor } from './first_call.ts'
import { keepMade, useMade } from './made.ts'
import type { StepProps } from './steps.tsx'

const words = texts.firstSteps.steps.call

export function FirstCall({ workspaceId, progress }: StepProps) {
  const { secret, host } = progress
  const [url, setUrl] = useState(urlFor(secret ?? '', host ?? ''))
  const { data: addresses, error } = useAsk('agents.addresses', null)
  if (error) return <FailureNote error={error} />
  if (!addresses) return <Loading />
  return (
    <>
      <p>{words.keep}</p>
      <CodeBlock text="read -rs SERVICE_TOKEN && export SERVICE_TOKEN" name={words.keepName} />
      <Token workspaceId={workspaceId} progress={progress} />
      <TextField label={words.url} mono value={url} onChange={setUrl} />
      <p>{words.copy}</p>
      <CodeBlock text={curlFor(addresses.resolver, secret ?? '', url)} name={words.copyName} />
      <Answer workspaceId={workspaceId} />
    </>
  )
}

function Token({ workspaceId, progress: { agent, project, environment } }: StepProps) {
  const id = useMade(workspaceId)
  const [failed, setFailed] = useState<unknown>(null)
  const issue = useCommand('agents.issue')
  if (id !== null) {
    return (
      <>
        <p>{words.token}</p>
        <div>
          <SecretValue
            name={words.tokenName}
            read={() => ask('agents.newToken', { id })}
            onError={setFailed}
          />
        </div>
        {failed ? <FailureNote error={failed} /> : null}
      </>
    )
  }
  const holder = {
    kind: 'further',
    agentId: agent?.id ?? '',
    projectId: agent?.projectId ?? null,
    environment,
  } as const
  const make = () =>
    issue.mutate(
      { workspaceId, holder, capabilities: ['use'], days: 90, label: project?.name ?? '' },
      { onSuccess: (made) => keepMade(workspaceId, made.id) },
    )
  return (
    <>
      <p>{words.tokenGone(agent?.name ?? '')}</p>
      <div>
        <Button isPending={issue.isPending} onPress={make}>
          {words.tokenAnew}
        </Button>
      </div>
      {issue.error ? <FailureNote error={issue.error} /> : null}
    </>
  )
}

const SHOWN = 3

/** What the server records of calls, as it does. */
function Answer({ workspaceId }: { workspaceId: string }) {
  const { calls } = useLiveCalls(workspaceId)
  const shown = calls.filter(({ source }) => source !== 'control_plane').slice(0, SHOWN)
  const isAnswered = shown.some((call) => call.status_code !== null && !isRefused(call))
  return (
    <section className="stack" aria-label={words.answer}>
      <p role="status" className="soft">
        {shown.length === 0 ? words.waiting : words.seen}
      </p>
      <ul className="flex flex-col gap-2">
        {shown.map((call) => (
          <li key={call.id}>
            <CallLine call={call} />
          </li>
        ))}
      </ul>
      {isAnswered ? (
        <Banner kind="good">
          <p>{words.done}</p>
          <p className="row">
            <Link to="/w/$workspaceId/secrets" params={{ workspaceId }}>
              {words.toSecrets}
            </Link>
            <Link to="/w/$workspaceId/agents" params={{ workspaceId }}>
              {words.toAgents}
            </Link>
          </p>
        </Banner>
      ) : null}
    </section>
  )
}
