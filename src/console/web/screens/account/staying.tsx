/** Until when the keys stay open in this browser, and the end of that. */
import { Banner } from '../../parts/states/banner.tsx'
import { texts } from '../../texts/index.ts'

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

export function Staying({ until }: { until: number | null }) {
  const { stays, idle } = texts.account.staying
  return <Banner>{until === null ? idle : stays(moments.format(until))}</Banner>
}
