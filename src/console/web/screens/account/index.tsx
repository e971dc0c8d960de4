/** A person's own account: a card for each setting, with at most one action. */
import { Screen } from '../../parts/page/screen.tsx'
import { useAccountState } from '../../queries.ts'
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
  if (account?.kind !== 'open') return null
  const { email, until } = account
  return (
    <Screen title={texts.common.areas.account} isPage>
      <div className="flex flex-col gap-4">
        <PasskeysCard />
        <PasswordCard email={email} />
        <SessionsCard />
        <RecoveryKeyCard />
        <AccountKeysCard />
        <LockCard until={until} />
        <DeleteAccountCard email={email} />
      </div>
    </Screen>
  )
}
