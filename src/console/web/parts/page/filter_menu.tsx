/** A filter with many values, as a chip: a press lists them, and the chip shows the chosen one. */
import { Plus } from 'lucide-react'
import { Button as AriaButton } from 'react-aria-components'
import { Icon } from '../icon.tsx'
import { MenuAround } from '../overlays/menu.tsx'

type Props = {
  label: string
  /** The choice that ends the filter. */
  anyLabel: string
  options: readonly string[]
  value: string | undefined
  onChange(value: string | undefined): void
}

export function FilterMenu({ label, anyLabel, options, value, onChange }: Props) {
  // A value of an address may not be among the options any more.
  const values = [...new Set([...(value === undefined ? [] : [value]), ...options])]
  const any = { id: '', label: anyLabel, act: () => onChange(undefined) }
  const choices = values.map((text) => ({
    id: text,
    label: text,
    act: () => onChange(text),
    isSelected: text === value,
  }))
  const look =
    value === undefined ? 'border-line text-ink-2' : 'border-surface-2 bg-surface-2 text-ink'
  return (
    <MenuAround
      label={value === undefined ? label : `${label}: ${value}`}
      choices={value === undefined ? choices : [{ ...any, isSelected: false }, ...choices]}
      trigger={
        <AriaButton
          isDisabled={values.length === 0}
          className={`inline-flex h-7 max-w-52 shrink-0 items-center gap-1 rounded-full border px-2.5 text-body font-medium whitespace-nowrap hover:bg-hover off:opacity-50 phone:h-8 ${look}`}
        >
          {value === undefined ? (
            <>
              <Icon of={Plus} size={13} />
              {label}
            </>
          ) : (
            <span className="truncate">{value}</span>
          )}
        </AriaButton>
      }
    />
  )
}
