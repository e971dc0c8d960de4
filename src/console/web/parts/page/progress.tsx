/** Long work: what is being done, and how much of it is done where that is known. */
import { ProgressBar } from 'react-aria-components'

export function ProgressMeter({ label, done }: { label: string; done?: number | undefined }) {
  const isKnown = done !== undefined
  return (
    <ProgressBar
      className="progress"
      aria-label={label}
      isIndeterminate={!isKnown}
      value={isKnown ? done * 100 : 0}
    >
      <span>{label}</span>
      <progress aria-hidden="true" max={1} {...(isKnown ? { value: done } : {})} />
    </ProgressBar>
  )
}
