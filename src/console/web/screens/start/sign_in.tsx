/** Sign in and unlock, with a passkey or the password. */
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Entrance } from './entrance.tsx'
import { type StayingId, StayingSelect, stayingOf } from './staying_select.tsx'

const UsePasskey = lazy(() => import('../../passkeys/use_passkey.tsx'))
const words = texts.start

export function SignIn() {
  const signIn = useCommand('accounts.logIn')
  const [staying, setStaying] = useState<StayingId>('idle')
  return (
    <>
      <ByPasskey isLocked={false} staying={staying} />
      <Entrance
        email={null}
        verb={words.signIn}
        submit={(credentials) => signIn.mutate({ ...credentials, ...stayingOf(staying) })}
        isPending={signIn.isPending}
        error={signIn.error}
      >
        <StayingSelect value={staying} onChange={setStaying} />
      </Entrance>
    </>
  )
}

export function Unlock({ email }: { email: string }) {
  const unlock = useCommand('accounts.unlock')
  const [staying, setStaying] = useState<StayingId>('idle')
  return (
    <>
      <ByPasskey isLocked staying={staying} />
      <Entrance
        email={email}
        verb={words.unlock}
        submit={({ password }) => unlock.mutate({ password, ...stayingOf(staying) })}
        isPending={unlock.isPending}
        error={unlock.error}
      >
        <StayingSelect value={staying} onChange={setStaying} />
      </Entrance>
      <OtherEntrances />
    </>
  )
}

/** For another person, or a forgotten password: both end the session, and its keys stay locked. */
function OtherEntrances() {
  const signOut = useCommand('accounts.logOut')
  const navigate = useNavigate()
  const leaveFor = (to: '/login' | '/recover') =>
    signOut.mutateAsync(null).then(
      () => navigate({ to, hash: true }),
      () => {},
    )
  return (
    <nav className="flex flex-wrap justify-between gap-2" aria-label={words.otherWays}>
      <Button kind="ghost" size="small" onPress={() => leaveFor('/login')}>
        {texts.common.signOut}
      </Button>
      <Button kind="ghost" size="small" onPress={() => leaveFor('/recover')}>
        {words.lostPassword}
      </Button>
      {signOut.error ? <FailureNote error={signOut.error} /> : null}
    </nav>
  )
}

type Props = { isLocked: boolean; staying: StayingId }

function ByPasskey({ isLocked, staying }: Props) {
  return (
    <Suspense fallback={null}>
      <UsePasskey isLocked={isLocked} staying={stayingOf(staying)} />
    </Suspense>
  )
}
