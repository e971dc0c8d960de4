/** Lines before and after a change. Screen readers hear which were added or removed. */
import { texts } from '../../texts/index.ts'

type Row = { text: string; change?: 'added' | 'removed' }

const LOOKS = { added: 'bg-green-soft text-green', removed: 'bg-red-soft text-red' }
const SIGNS = { added: '+ ', removed: '− ' }

export function DiffBlock({ rows }: { rows: readonly Row[] }) {
  const words = texts.parts
  return (
    <ul className="overflow-hidden rounded-[8px] border border-line-2 font-mono text-mono">
      {rows.map(({ text, change }, at) => (
        <li
          // Two lines may be the same.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          key={at}
          className={`px-2.5 py-[3px] wrap-anywhere ${change ? LOOKS[change] : 'text-ink-2'}`}
        >
          {change ? (
            <>
              <span aria-hidden="true">{SIGNS[change]}</span>
              <span className="sr-only">{`${words[change]}: `}</span>
            </>
          ) : null}
          {text}
        </li>
      ))}
    </ul>
  )
}
