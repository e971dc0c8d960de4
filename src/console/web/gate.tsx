/** Shows the screens to an unlocked user, and the entrances to everyone else. */
import { Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { AGAIN_MS } from './availability.ts'
import { LoadedFrame } from './frame/loaded.tsx'
import { offerRecoveryKey, useRecoveryKey } from './frame/recovery_key.ts'
import { AskError, ask } from './keys/ask.ts'
import type { Failure } from './keys/reports.ts'
import { Button } from './parts/button.tsx'
import { FailureNote } from './parts/page/failure.tsx'
import { Loading } from './parts/page/loading.tsx'
import { useAccountState, useCommand } from './queries.ts'
import { EntryPage } from './screens/start/entry.tsx'
import { texts } from './texts/index.ts'

const Start = lazy(() => import('./screens/start/index.tsx'))
const RecoveryKit = lazy(() => import('./screens/start/recovery_kit.tsx'))

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
  useFocusHeading(`${account?.kind} ${recoveryKey !== null}`)
  if (account === null) return <Loading />
  if (account.kind === 'unavailable') return <Unavailable failure={account.failure} />
  if (account.kind !== 'open') {
    return <Start account={account} />
  }
  if (recoveryKey !== null) {
    const handleKept = () => offerRecoveryKey(null)
    return <RecoveryKit email={account.email} recoveryKey={recoveryKey} onKept={handleKept} />
  }
  return (
    <LoadedFrame email={account.email}>
      <Outlet />
    </LoadedFrame>
  )
}

function Unavailable({ failure }: { failure: Failure }) {
  const again = useCommand('accounts.state')
  useEffect(() => {
    const asking = setInterval(() => void ask('accounts.state', null).catch(() => {}), AGAIN_MS)
    return () => clearInterval(asking)
  }, [])
  return (
    <EntryPage title={texts.start.unavailable}>
      <FailureNote error={new AskError(failure)} />
      <Button isFull onPress={() => again.mutate(null)} isPending={again.isPending}>
        {texts.errors.tryAgain}
      </Button>
    </EntryPage>
  )
}

/** Moves the focus to the heading of a new screen. `state` distinguishes screens at the same address. The heading may render later. */
function useFocusHeading(state: string): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const isFirst = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new screen is a new arrival.
  useEffect(() => {
    const before = document.activeElement
    document.getElementById('content')?.scrollTo(0, 0)
    // The first screen keeps the browser's own focus.
    let isFocused = path === undefined || isFirst.current
    if (path !== undefined) isFirst.current = false
    const look = () => {
      const heading = document.querySelector('h1')
      const { appName } = texts.common
      document.title = heading ? `${heading.textContent} · ${appName}` : appName
      if (isFocused || !heading) return
      isFocused = true
      const { activeElement } = document
      if (activeElement !== before && activeElement !== document.body) return
      heading.tabIndex = -1
      heading.focus({ preventScroll: true })
    }
    const observer = new MutationObserver(look)
    observer.observe(document.body, { childList: true, subtree: true, characterData: true })
    look()
    return () => observer.disconnect()
  }, [path, state])
}
