/** Notices of the whole page: the server is unavailable, the clocks differ, or the keys lock soon. They float, so nothing moves. */
import { type ReactNode, useSyncExternalStore } from 'react'
import { clockSentence } from '../../../client/http/clock_difference.ts'
import { clockDifference, onClockDifference } from '../../../client/http/transport.browser.ts'
import { useIsUnavailable } from '../availability.ts'
import { Button } from '../parts/button.tsx'
import { useAccountState, useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'

export function PageNotices() {
  const isUnavailable = useIsUnavailable()
  const clocks = useClockSentence()
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-4 bottom-4 z-20 flex flex-col desk:left-60 items-center gap-2 phone:bottom-20"
    >
      {isUnavailable ? <Notice>{texts.errors.unavailable}</Notice> : null}
      {clocks ? (
        <Notice>
          {clocks} {texts.errors.clocks}
        </Notice>
      ) : null}
      <LockWarning />
    </div>
  )
}

function Notice({ children }: { children: ReactNode }) {
  return (
    <div className="pointer-events-auto flex max-w-[560px] items-center gap-3 rounded-card border border-amber-solid bg-amber-soft px-3 py-2 text-amber shadow-pop">
      {children}
    </div>
  )
}

const endingWords = texts.common.ending

function LockWarning() {
  const account = useAccountState()
  const stay = useCommand('accounts.stay')
  if (account?.kind !== 'open' || !account.isEnding) return null
  return (
    <Notice>
      <p>{account.until === null ? endingWords.idle : endingWords.time}</p>
      <Button size="small" onPress={() => stay.mutate({})}>
        {endingWords.goOn}
      </Button>
    </Notice>
  )
}

/** A sentence with both times; null while the clocks agree. */
function useClockSentence(): string | null {
  const difference = useSyncExternalStore(onClockDifference, clockDifference)
  return difference && clockSentence(difference)
}
