/** A person's own account: a card for each setting, with at most one action. */
import { Screen } from '../../parts/page/screen.tsx'
import { SkeletonRows } from '../../parts/page/skeleton.tsx'
import { useAccountState, useAsk } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DeleteAccountCard } from './delete.tsx'
import { AccountKeysCard } from './keys.tsx'
import { LockCard } from './lock.tsx'
import { PasskeysCard } from './passkeys.tsx'
import { PasswordCard } from './password.tsx'
import { RecoveryKeyCard } from './recovery_key.tsx'
import { SessionsCard } from './sessions.tsx'

export function AccountScreen() {
  const account = useAccountState()
  const isRead = useIsRead()
  if (account?.kind !== 'open') return null
  const { email, until } = account
  return (
    <Screen title={texts.common.areas.account} isPage>
      {isRead ? <Cards email={email} until={until} /> : <SkeletonRows count={6} height={56} />}
    </Screen>
  )
}

/** The lists make the cards' heights, so no card is drawn before they are read. */
function useIsRead(): boolean {
  const reads = [
    useAsk('passkeys.list', null),
    useAsk('credentials.sessions', null),
    useAsk('credentials.fingerprint', null),
  ]
  return reads.every(({ isLoading }) => !isLoading)
}

function Cards({ email, until }: { email: string; until: number | null }) {
  return (
    <div className="flex flex-col gap-4">
      <PasskeysCard />
      <PasswordCard email={email} />
      <SessionsCard />
      <RecoveryKeyCard />
      <AccountKeysCard />
      <LockCard until={until} />
      <DeleteAccountCard email={email} />
    </div>
  )
}
