/** One's own account: what opens it, where it is open, its keys, and its end. */
import { useAccountState } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DeleteAccount } from './delete_account.tsx'
import { AccountKeysSection } from './keys.tsx'
import { Passkeys } from './passkeys.tsx'
import { Password } from './password.tsx'
import { RecoveryKey } from './recovery_key.tsx'
import { SessionsSection } from './sessions.tsx'
import { StayingSection } from './staying.tsx'

export function AccountScreen() {
  const account = useAccountState()
  if (account?.kind !== 'open') return null
  return (
    <div className="stack steps">
      <h1>{texts.account.title}</h1>
      <StayingSection until={account.until} />
      <Passkeys />
      <Password email={account.email} />
      <SessionsSection />
      <RecoveryKey />
      <AccountKeysSection />
      <DeleteAccount email={account.email} />
    </div>
  )
}
