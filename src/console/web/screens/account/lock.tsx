/** When the keys lock in this browser. */
import { Card } from '../../parts/page/card.tsx'
import { FailureNote } from '../../parts/page/failure.tsx'
import { momentOf } from '../../parts/show/moments.ts'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { findStayingAt, StayingSelect, stayingOf } from '../start/staying_select.tsx'

const words = texts.account.lock

export function LockCard({ until }: { until: number | null }) {
  const stay = useCommand('accounts.stay')
  return (
    <Card
      title={words.title}
      description={
        until === null ? words.idle : words.until(momentOf(new Date(until).toISOString()))
      }
    >
      <div className="flex max-w-70 flex-col gap-2 phone:max-w-none">
        <StayingSelect
          isLabelHidden
          value={findStayingAt(until)}
          onChange={(id) => stay.mutate(stayingOf(id))}
        />
      </div>
      {stay.error ? <FailureNote error={stay.error} /> : null}
    </Card>
  )
}
