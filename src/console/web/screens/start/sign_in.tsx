/** Sign in and unlock, with a passkey or the password. */
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { FailureNote } from '../../parts/page/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { Entrance, LINK } from './entrance.tsx'
import { type StayingId, StayingSelect, stayingOf } from './staying_select.tsx'

const UsePasskey = lazy(() => import('../../passkeys/use_passkey.tsx'))
const words = texts.start

export function SignIn() {
  const signIn = useCommand('accounts.logIn')
  const [staying, setStaying] = useState<StayingId>('idle')
  const [hasPasskey, setHasPasskey] = useState(false)
  return (
    <>
      <ByPasskey isLocked={false} staying={staying} onShown={setHasPasskey} />
      <Entrance
        email={null}
        verb={words.signIn}
        isSecondary={hasPasskey}
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
  const [hasPasskey, setHasPasskey] = useState(false)
  return (
    <>
      <ByPasskey isLocked staying={staying} onShown={setHasPasskey} />
      <Entrance
        email={email}
        verb={words.unlock}
        isSecondary={hasPasskey}
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
    <nav
      className="flex flex-wrap justify-between gap-x-4 gap-y-2 text-small"
      aria-label={words.otherWays}
    >
      <AriaButton className={LINK} onPress={() => leaveFor('/login')}>
        {texts.common.signOut}
      </AriaButton>
      <AriaButton className={LINK} onPress={() => leaveFor('/recover')}>
        {words.lostPassword}
      </AriaButton>
      {signOut.error ? <FailureNote error={signOut.error} /> : null}
    </nav>
  )
}

type Props = { isLocked: boolean; staying: StayingId; onShown(isShown: boolean): void }

function ByPasskey({ isLocked, staying, onShown }: Props) {
  return (
    <Suspense fallback={null}>
      <UsePasskey isLocked={isLocked} staying={stayingOf(staying)} onShown={onShown} />
    </Suspense>
  )
}
