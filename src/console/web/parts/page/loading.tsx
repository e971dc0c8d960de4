/** Shown while data loads. It appears after 300 ms, so that fast screens do not flicker. */
import { texts } from '../../texts/index.ts'

export function Loading() {
  return (
    <p data-loading role="status" className="animate-[appear_0s_0.3s_both] p-4 text-ink-3">
      {texts.common.loading}
    </p>
  )
}
