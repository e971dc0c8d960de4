/** In the last minute before the keys are locked: what was typed and not saved is lost with the screen. */
import { Button } from '../parts/button.tsx'
import { Banner } from '../parts/states/banner.tsx'
import { useAccountState, useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'

const words = texts.common.ending

export function LockWarning() {
  const account = useAccountState()
  const stay = useCommand('accounts.stay')
  if (account?.kind !== 'open' || !account.isEnding) return null
  return (
    <Banner kind="warning">
      <p>{account.until === null ? words.idle : words.time}</p>
      <Button onPress={() => stay.mutate({})}>{words.goOn}</Button>
    </Banner>
  )
}
