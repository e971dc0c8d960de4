/** One's own account: what opens it, where it is open, its keys, and its end. */
import { useAccount } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { DeleteAccount } from './delete_account.tsx'
import { Keys } from './keys.tsx'
import { Passkeys } from './passkeys.tsx'
import { Password } from './password.tsx'
import { RecoveryKey } from './recovery_key.tsx'
import { Sessions } from './sessions.tsx'
import { Staying } from './staying.tsx'

export function Account() {
  const account = useAccount()
  if (account?.kind !== 'open') return null
  return (
    <div className="stack steps">
      <h1>{texts.account.title}</h1>
      <Staying until={account.until} />
      <Passkeys />
      <Password email={account.email} />
      <Sessions />
      <RecoveryKey />
      <Keys />
      <DeleteAccount email={account.email} />
    </div>
  )
}
