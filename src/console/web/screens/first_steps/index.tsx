/** From an empty workspace to the first call of an agent, one thing after the other. */
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useIsMember, useManages } from '../../frame/manages.ts'
import { Banner } from '../../parts/page/banner.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { Loading } from '../../parts/page/loading.tsx'
import { NotFound } from '../../parts/page/not_found.tsx'
import { useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { FirstCall } from './call.tsx'
import { AgentStep, HostStep, ProjectStep, SecretStep, type StepProps } from './steps.tsx'

const route = getRouteApi('/w/$workspaceId/first-steps')
const words = texts.firstSteps

type Step = {
  id: keyof typeof words.steps
  done: string | null
  Screen(props: StepProps): ReactNode
}

export function FirstSteps() {
  const { workspaceId } = route.useParams()
  const { data: progress, error } = useAsk('first_steps.progress', { workspaceId })
  const isManager = useManages(workspaceId)
  const isMember = useIsMember(workspaceId)
  if (isMember === false) return <NotFound />
  return (
    <section className="stack steps">
      <h1>{words.title}</h1>
      <p className="soft">{words.what}</p>
      {isManager === false ? <Banner>{words.askAdmin}</Banner> : null}
      {error ? <FailureNote error={error} /> : null}
      {progress ? (
        <Steps workspaceId={workspaceId} progress={progress} />
      ) : error ? null : (
        <Loading />
      )}
    </section>
  )
}

function Steps(props: StepProps) {
  const { project, secret, host, agent } = props.progress
  const steps: Step[] = [
    { id: 'project', done: project?.name ?? null, Screen: ProjectStep },
    { id: 'secret', done: secret, Screen: SecretStep },
    { id: 'host', done: host, Screen: HostStep },
    { id: 'agent', done: agent?.name ?? null, Screen: AgentStep },
    { id: 'call', done: null, Screen: FirstCall },
  ]
  const current = steps.findIndex(({ done }) => done === null)
  return (
    <ol className="plain-list stack">
      {steps.map(({ id, done, Screen }, index) => (
        <li
          key={id}
          className="step stack"
          {...(index === current ? { 'aria-current': 'step' } : {})}
        >
          <h2>
            <span className="step-number" aria-hidden="true">
              {index < current ? '✓' : index + 1}
            </span>{' '}
            {words.steps[id].title}{' '}
            {index < current ? <span className="soft">{words.done(done ?? '')}</span> : null}
          </h2>
          {index === current ? (
            <>
              <p className="soft">{words.steps[id].why}</p>
              <Screen {...props} />
            </>
          ) : null}
        </li>
      ))}
    </ol>
  )
}
