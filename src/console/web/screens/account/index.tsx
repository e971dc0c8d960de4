/** One's own account. */
import { texts } from '../../texts/index.ts'
import { Passkeys } from './passkeys.tsx'

export function Account() {
  return (
    <div className="stack">
      <h1>{texts.account.title}</h1>
      <Passkeys />
    </div>
  )
}
