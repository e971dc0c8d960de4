/** One of two to five views of the same thing. */
import type { LucideIcon } from 'lucide-react'
import { Radio, RadioGroup } from 'react-aria-components'
import { Icon } from '../icon.tsx'
import { EnvironmentSquare } from '../show/environment_label.tsx'

type Option<Id extends string> = {
  id: Id
  label: string
  icon?: LucideIcon
  /** The name of an environment, whose color comes before the label. */
  env?: string
}

type Props<Id extends string> = {
  label: string
  options: readonly Option<Id>[]
  value: Id
  onChange(id: Id): void
}

export function Segmented<Id extends string>({ label, options, value, onChange }: Props<Id>) {
  return (
    <RadioGroup
      aria-label={label}
      orientation="horizontal"
      value={value}
      onChange={(id) => {
        const chosen = options.find((option) => option.id === id)
        if (chosen) onChange(chosen.id)
      }}
      className="inline-flex w-fit max-w-full rounded-[9px] bg-surface-2 p-[3px] phone:flex phone:w-full"
    >
      {options.map(({ id, label: text, icon, env }) => (
        <Radio
          key={id}
          value={id}
          className="flex h-6.5 min-w-0 cursor-pointer items-center justify-center gap-1.5 rounded-control px-3 font-medium text-ink-2 selected:bg-surface selected:text-ink selected:shadow-control phone:h-[34px] phone:flex-1"
        >
          {icon ? <Icon of={icon} /> : null}
          {env === undefined ? null : <EnvironmentSquare name={env} />}
          <span className="truncate">{text}</span>
        </Radio>
      ))}
    </RadioGroup>
  )
}
