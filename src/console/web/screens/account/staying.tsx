/** Until when the keys stay open in this browser, and another time for it. */
import { Banner } from '../../parts/states/banner.tsx'
import { FailureNote } from '../../parts/states/failure.tsx'
import { useCommand } from '../../queries.ts'
import { texts } from '../../texts/index.ts'
import { StayingSelect, stayingAt, stayingOf } from '../start/staying_select.tsx'

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function StayingSection({ until }: { until: number | null }) {
  const { stays, idle } = texts.account.staying
  const stay = useCommand('accounts.stay')
  return (
    <section className="stack form" aria-label={texts.start.staying.label}>
      <Banner>{until === null ? idle : stays(moments.format(until))}</Banner>
      <StayingSelect value={stayingAt(until)} onChange={(id) => stay.mutate(stayingOf(id))} />
      {stay.error ? <FailureNote error={stay.error} /> : null}
    </section>
  )
}
