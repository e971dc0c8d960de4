/** A word of a sentence that opens a menu of the words that can take its place. */
import { ChevronDown } from 'lucide-react'
import { Button } from 'react-aria-components'
import { Icon } from '../icon.tsx'
import { MenuAround, type MenuChoice } from './menu.tsx'

type Props = { label: string; value: string; choices: readonly MenuChoice[] }

export function MenuToken({ label, value, choices }: Props) {
  return (
    <MenuAround
      label={`${label}: ${value}`}
      choices={choices}
      trigger={
        <Button className="inline-flex h-6.5 max-w-full items-center gap-1 rounded-tag bg-accent-soft px-1.5 align-middle font-medium text-accent-ink hover:ring-1 hover:ring-accent phone:h-10">
          <span className="truncate">{value}</span>
          <Icon of={ChevronDown} size={12} />
        </Button>
      }
    />
  )
}
