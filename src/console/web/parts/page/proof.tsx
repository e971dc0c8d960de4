/** Codes, signatures, links and hashes: closed until someone asks for them. */
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { texts } from '../../texts/index.ts'
import { Icon } from '../icon.tsx'

type Props = { label?: string; startsOpen?: boolean; children: ReactNode }

export function Proof({ label, startsOpen = false, children }: Props) {
  const [isOpenAtFirst] = useState(startsOpen)
  return (
    <details open={isOpenAtFirst} className="group text-small text-ink-2">
      <summary className="inline-flex w-fit list-none items-center gap-1 rounded-[4px] font-medium hover:text-ink">
        <span className="inline-flex transition-transform duration-120 group-open:rotate-90">
          <Icon of={ChevronRight} size={13} />
        </span>
        {label ?? texts.parts.details}
      </summary>
      <div className="flex flex-col gap-2 pt-2 wrap-anywhere">{children}</div>
    </details>
  )
}
