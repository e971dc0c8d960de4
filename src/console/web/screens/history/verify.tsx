/** Verifies every environment and token of a workspace, on request. */
import { useState } from 'react'
import { ask } from '../../keys/ask.ts'
import type { Returned } from '../../keys/messages.ts'
import { FailureNote } from '../../parts/page/failure.tsx'
import { ProgressMeter } from '../../parts/page/progress.tsx'
import { texts } from '../../texts/index.ts'

const words = texts.history

type Verified = Returned<'history.verify'>
type Verification = { result?: Verified; error?: unknown; isRunning: boolean }

export function useVerification(workspaceId: string) {
  const [state, setState] = useState<Verification>({ isRunning: false })
  const run = async () => {
    setState({ isRunning: true })
    try {
      setState({ result: await ask('history.verify', { workspaceId }), isRunning: false })
    } catch (error) {
      setState({ error, isRunning: false })
    }
  }
  return { ...state, run }
}

export function VerificationResult({ result, error, isRunning }: Verification) {
  if (!isRunning && !error && !result) return null
  return (
    <div className="mx-5 my-3 shrink-0 phone:mx-4">
      {isRunning ? <ProgressMeter label={words.verifying} /> : null}
      {error ? <FailureNote error={error} /> : null}
      {result ? <Result {...result} /> : null}
    </div>
  )
}

function Result({ members, environments, tokens, faults }: Verified) {
  const found = [
    ...faults,
    ...environments.flatMap(({ project, environment, fault }) =>
      fault ? [words.environmentFault(`${project}/${environment}`, fault)] : [],
    ),
    ...(tokens ?? []).flatMap(({ label, verdict, why }) =>
      verdict === 'refused' ? [words.tokenFault(label, why ?? '')] : [],
    ),
  ]
  if (found.length === 0) {
    return (
      <p role="status" className="text-green">
        {words.all(members, environments.length, tokens?.length ?? null)}
      </p>
    )
  }
  return (
    <div role="alert" className="rounded-control bg-red-soft px-3 py-2 text-red">
      <p className="font-medium">{words.faults}</p>
      <ul>
        {found.map((fault) => (
          <li key={fault}>{fault}</li>
        ))}
      </ul>
    </div>
  )
}
