/** Who is shown what: the screens to who has unlocked, and the ways in to all others. */
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { AGAIN_MS } from '../away.ts'
import { AskError, ask } from '../keys/ask.ts'
import type { Failure } from '../keys/reports.ts'
import { Button } from '../parts/button.tsx'
import { FailureNote } from '../parts/states/failure.tsx'
import { Loading } from '../parts/states/loading.tsx'
import { useAccountState, useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'
import { useArrival } from './arrival.ts'
import { offerRecoveryKey, useRecoveryKey } from './recovery_key.ts'

const Frame = lazy(() => import('./frame.tsx'))
const Start = lazy(() => import('../screens/start/index.tsx'))
const RecoveryKit = lazy(() => import('../screens/start/recovery_kit.tsx'))

export function AccountGate() {
  return (
    <Suspense fallback={<Loading />}>
      <Shown />
    </Suspense>
  )
}

function Shown() {
  const account = useAccountState()
  const recoveryKey = useRecoveryKey()
  useArrival(`${account?.kind} ${recoveryKey !== null}`)
  if (account === null) return <Loading />
  if (account.kind === 'away') return <Away failure={account.failure} />
  if (account.kind !== 'open') {
    return <Start account={account} />
  }
  if (recoveryKey !== null) {
    const kept = () => offerRecoveryKey(null)
    return <RecoveryKit email={account.email} recoveryKey={recoveryKey} onKept={kept} />
  }
  return (
    <Frame email={account.email}>
      <Outlet />
    </Frame>
  )
}

function Away({ failure }: { failure: Failure }) {
  const again = useCommand('accounts.state')
  useEffect(() => {
    const asking = setInterval(() => void ask('accounts.state', null).catch(() => {}), AGAIN_MS)
    return () => clearInterval(asking)
  }, [])
  return (
    <main className="start stack">
      <h1>{texts.start.away}</h1>
      <FailureNote error={new AskError(failure)} />
      <Button onPress={() => again.mutate(null)} isPending={again.isPending}>
        {texts.errors.tryAgain}
      </Button>
    </main>
  )
}
