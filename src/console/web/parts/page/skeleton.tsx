/** Rows of the true height while a list loads, so that nothing moves when it arrives. */
import { texts } from '../../texts/index.ts'

/** In place of a figure that is not read yet: a 0 would be false. As wide as two digits, which fit most figures. */
export function SkeletonFigure() {
  return (
    <i
      aria-hidden="true"
      className="inline-block h-[0.7em] w-[2ch] animate-[pulse_1.6s_ease-in-out_infinite] rounded-tag bg-line-2"
    />
  )
}

const HEIGHTS = { 34: 'h-[34px] phone:h-14', 38: 'h-[38px] phone:h-14', 56: 'h-14' }
const WIDTHS = ['w-2/5', 'w-1/3', 'w-1/2', 'w-1/4']

type Props = {
  count: number
  height?: 34 | 38 | 56
  /** A table's header comes above the rows. */
  hasHeader?: boolean
}

export function SkeletonRows({ count, height = 38, hasHeader = false }: Props) {
  return (
    <div role="status" aria-label={texts.common.loading}>
      {hasHeader ? <div className="h-8 border-b border-line phone:hidden" /> : null}
      {Array.from({ length: count }, (_, at) => (
        <div
          // Rows of a skeleton have no other identity.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={at}
          className={`flex items-center border-b border-line px-5 phone:px-4 ${HEIGHTS[height]}`}
        >
          <i
            className={`h-2.5 animate-[pulse_1.6s_ease-in-out_infinite] rounded-full bg-surface-2 ${WIDTHS[at % WIDTHS.length]}`}
          />
        </div>
      ))}
    </div>
  )
}
