/** Who is shown what: the screens to who has unlocked, and the ways in to all others. */
import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Loading } from '../parts/loading.tsx'
import { useAccount } from '../queries.ts'
import { Frame } from './frame.tsx'
import { showRecoveryKey, useRecoveryKey } from './recovery_key.ts'

const Start = lazy(() => import('../screens/start/index.tsx'))
const RecoveryKit = lazy(() => import('../screens/start/recovery_kit.tsx'))

export function Gate() {
  return (
    <Suspense fallback={<Loading />}>
      <Shown />
    </Suspense>
  )
}

function Shown() {
  const account = useAccount()
  const recoveryKey = useRecoveryKey()
  if (account === null) return <Loading />
  if (account.kind !== 'open') {
    return <Start lockedAs={account.kind === 'locked' ? account.email : null} />
  }
  if (recoveryKey !== null) {
    const kept = () => showRecoveryKey(null)
    return <RecoveryKit email={account.email} recoveryKey={recoveryKey} onKept={kept} />
  }
  return (
    <Frame email={account.email}>
      <Outlet />
    </Frame>
  )
}
