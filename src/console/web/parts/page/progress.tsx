/** The progress of long work: the current step, and the finished share if known. */
import { ProgressBar } from 'react-aria-components'

export function ProgressMeter({ label, done }: { label: string; done?: number | undefined }) {
  const isKnown = done !== undefined
  return (
    <ProgressBar
      className="flex flex-col gap-1.5"
      aria-label={label}
      isIndeterminate={!isKnown}
      value={isKnown ? done * 100 : 0}
    >
      <span className="text-ink-2">{label}</span>
      <span className="h-1 overflow-hidden rounded-full bg-surface-2">
        <span
          className={`block h-full rounded-full bg-accent ${isKnown ? '' : 'w-1/3 animate-[pulse_1.6s_ease-in-out_infinite]'}`}
          style={isKnown ? { width: `${done * 100}%` } : {}}
        />
      </span>
    </ProgressBar>
  )
}
