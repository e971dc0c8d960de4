/** Log in, and unlock: by the password or a passkey, and for how long. */
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

export function LogIn() {
  const logIn = useCommand('accounts.logIn')
  const [staying, setStaying] = useState<StayingId>('idle')
  return (
    <>
      <Entrance
        email={null}
        verb={words.logIn}
        submit={(credentials) => logIn.mutate({ ...credentials, ...stayingOf(staying) })}
        isPending={logIn.isPending}
        error={logIn.error}
      >
        <StayingSelect value={staying} onChange={setStaying} />
      </Entrance>
      <ByPasskey isLocked={false} staying={staying} />
    </>
  )
}

export function Unlock({ email }: { email: string }) {
  const unlock = useCommand('accounts.unlock')
  const [staying, setStaying] = useState<StayingId>('idle')
  return (
    <>
      <Entrance
        email={email}
        verb={words.unlock}
        submit={({ password }) => unlock.mutate({ password, ...stayingOf(staying) })}
        isPending={unlock.isPending}
        error={unlock.error}
      >
        <StayingSelect value={staying} onChange={setStaying} />
      </Entrance>
      <ByPasskey isLocked staying={staying} />
      <OtherWays />
    </>
  )
}

/** For who cannot unlock, or is somebody else: they end the session, and its keys stay closed. */
function OtherWays() {
  const logOut = useCommand('accounts.logOut')
  const navigate = useNavigate()
  const leaveFor = (to: '/login' | '/recover') =>
    logOut.mutateAsync(null).then(
      () => navigate({ to, hash: true }),
      () => {},
    )
  return (
    <nav className="row" aria-label={words.otherWays}>
      <Button kind="ghost" onPress={() => leaveFor('/login')}>
        {texts.common.signOut}
      </Button>
      <Button kind="ghost" onPress={() => leaveFor('/recover')}>
        {words.lostPassword}
      </Button>
      {logOut.error ? <FailureNote error={logOut.error} /> : null}
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
